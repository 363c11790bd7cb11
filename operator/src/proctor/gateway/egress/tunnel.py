"""One connection through the proxy: asked for, checked, opened, checked again, carried.

Nothing of the client reaches the other side before its ClientHello names the host of its CONNECT.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field

from proctor.api.egress_pass import EgressPass
from proctor.gateway.egress.hello import LONGEST, HelloError, IncompleteError, server_name
from proctor.gateway.egress.request import RefusedError, Target, read_request, require_leave
from proctor.serving.logs import FIELDS

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
_CHUNK = 64 * 1024
_LOGGER = logging.getLogger("proctor.gateway.egress")


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that the proxy waits: for a head or ClientHello, an answer, the next byte."""

    head: float = 10.0
    connect: float = 10.0
    idle: float = 600.0


@dataclass(frozen=True, slots=True)
class World:
    """All that is not the client.

    Args:
        secret: Reads what operator and proxy share; it may change.
        resolve: Addresses of a name; OSError when it has none.
        is_public: Whether the proxy may connect to an address.
        connect: Opens a connection to an address and port.
        now: Seconds since 1970.
    """

    secret: Callable[[], bytes]
    resolve: Callable[[str], Awaitable[list[str]]]
    is_public: Callable[[str], bool]
    connect: Callable[[str, int], Awaitable[Streams]]
    now: Callable[[], float]
    patience: Patience = field(default_factory=Patience)


class Tunnel:
    """Serves one client."""

    def __init__(self, world: World, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._world, self._reader, self._writer = world, reader, writer
        self._fields: dict[str, object] = {}

    async def serve(self) -> None:
        """Until either side is done; every refusal is logged, and answered while it can be."""
        try:
            await self._serve()
        except RefusedError as error:
            _LOGGER.warning("refused: %s", error.reason, extra={FIELDS: self._fields})
            self._writer.write(error.answer())
            await _close(self._writer)
        except (OSError, EOFError, TimeoutError) as error:
            _LOGGER.info("ended: %s", type(error).__name__, extra={FIELDS: self._fields})
        finally:
            self._writer.close()

    async def _serve(self) -> None:
        target = await self._asked()
        if target is None:
            return
        reader, writer = await self._open(target)
        try:
            self._writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            hello = await self._hello()
            if hello is None or hello[0] != target.host:
                said = f"names {hello[0]}" if hello else "does not begin with TLS to a named host"
                reason = f"the connection to {target.host} {said}"
                # The client was told 200: there is no HTTP any more to answer in.
                _LOGGER.warning("refused: %s", reason, extra={FIELDS: self._fields})
                return
            writer.write(hello[1])
            sent, received = await _both(
                _carry(self._reader, writer, self._world.patience.idle),
                _carry(reader, self._writer, self._world.patience.idle),
            )
            counted = {**self._fields, "sent": sent + len(hello[1]), "received": received}
            _LOGGER.info("carried", extra={FIELDS: counted})
        finally:
            writer.close()

    async def _asked(self) -> Target | None:
        """Where to, with leave; None: it closed without a word, as a probe does."""
        try:
            async with asyncio.timeout(self._world.patience.head):
                head = await self._first_byte()
                if not head:
                    return None
                head += await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            raise RefusedError(431, "the request's head is too long") from None
        request = read_request(head)
        self._fields |= {"host": request.target.host, "port": request.target.port}
        require_leave(request, self._world.secret(), self._world.now(), self._tell)
        return request.target

    async def _first_byte(self) -> bytes:
        try:
            return await self._reader.read(1)
        except ConnectionError:
            return b""

    def _tell(self, found: EgressPass) -> None:
        self._fields |= {"trial_uid": found.trial, "attempt": found.attempt}

    async def _open(self, target: Target) -> Streams:
        """Connect to an address that the name has now; it is not looked up again."""
        try:
            async with asyncio.timeout(self._world.patience.connect):
                addresses = await self._world.resolve(target.host)
                public = [one for one in addresses if self._world.is_public(one)]
                if not public:
                    raise RefusedError(403, f"{target.host} has no public address")
                self._fields["address"] = public[0]
                return await self._world.connect(public[0], target.port)
        except (OSError, TimeoutError) as error:
            said = str(error) or "no answer in time"
            raise RefusedError(502, f"{target.host}:{target.port}: {said}") from None

    async def _hello(self) -> tuple[str, bytes] | None:
        """The name that the client says in TLS, and the bytes read for it; None: it says none."""
        data = b""
        async with asyncio.timeout(self._world.patience.head):
            while len(data) < LONGEST:
                more = await self._reader.read(_CHUNK)
                data += more
                try:
                    return server_name(data), data
                except HelloError:
                    return None
                except IncompleteError:
                    if not more:
                        return None
        return None


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, idle: float) -> int:
    """Carry bytes until there are no more; how many."""
    count = 0
    while True:
        async with asyncio.timeout(idle):
            chunk = await reader.read(_CHUNK)
            if not chunk:
                break
            writer.write(chunk)
            await writer.drain()
        count += len(chunk)
    if writer.can_write_eof():
        writer.write_eof()
    return count


async def _both(*directions: Coroutine[None, None, int]) -> list[int]:
    """Both directions; the failure of one ends the other."""
    tasks = [asyncio.create_task(direction) for direction in directions]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()


async def _close(writer: asyncio.StreamWriter) -> None:
    writer.close()
    try:
        await writer.wait_closed()
    except OSError:
        return
