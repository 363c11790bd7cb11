"""One call, from the upstream's first byte to the client's last, and how it ended."""

import asyncio
import hashlib
from collections.abc import Callable

from aiohttp import web

from proctor.api.errors import PlatformError
from proctor.gateway.decoding import Decoder
from proctor.gateway.events import Digests
from proctor.gateway.ledger import Ending
from proctor.gateway.upstream import Answer, CutError, Forward, UnansweredError, Upstream
from proctor.wire.estimate import estimate
from proctor.wire.format import Meter, Reading, Relay

_PROVIDER_STATUSES = frozenset({401, 402, 408, 429})
"""Besides 5xx: what the provider answers to our account or load, not to what the agent sent."""


_NEVER_WAITS_BYTES = 32 * 1024
"""asyncio makes writers wait from 64 KiB in the buffer on."""


class Exchange:
    """Passes one answer on and remembers how far it came.

    A call is settled before the client can know that its answer is over: what a client asks next
    meets the limits with this call's figures in them.

    Args:
        forward: The call.
        relay: Changes the event stream that answers it; None: nothing does.
        on_end: Is told once how the call ended.
        client_idle_seconds: A client that takes no byte for so long has gone.
    """

    def __init__(
        self,
        forward: Forward,
        relay: Relay | None,
        on_end: Callable[[Ending], None],
        client_idle_seconds: float = 300.0,
    ) -> None:
        self._forward = forward
        self._relay = relay
        self._on_end = on_end
        self._client_idle_seconds = client_idle_seconds
        self._is_settled = False
        self._status: int | None = None
        self._meter: Meter | None = None
        self._failure: str | None = None
        self._miss: str | None = None
        self._passed = hashlib.sha256()
        self._sent = True
        self._came_whole = False
        self._decoder = Decoder("")

    async def run(self, http: web.Request, upstream: Upstream) -> web.StreamResponse:
        """Ask and pass the answer on; however it ends, the call is settled.

        Raises:
            UnansweredError: When nobody answered; the client has got nothing yet.
        """
        try:
            async with upstream.answer(self._forward) as answer:
                return await self._pass_on(http, answer)
        except UnansweredError as error:
            self._failure, self._sent = str(error), error.sent
            raise
        except PlatformError as error:
            self._failure, self._sent = str(error), False
            raise
        finally:
            self._settle()

    async def _pass_on(self, http: web.Request, answer: Answer) -> web.StreamResponse:
        is_stream, encoding = answer.is_stream, answer.header("content-encoding")
        relay = self._relay if is_stream and not encoding else None
        out = _Out(http, answer, relay, self._client_idle_seconds)
        self._status = answer.status
        self._miss = answer.miss
        self._meter = self._forward.wire_format.meter(is_stream)
        self._decoder, self._is_plain = Decoder(encoding), not encoding
        in_pieces = is_stream or (self._forward.request.stream and answer.status < 400)
        try:
            if not in_pieces:
                return await out.end(await self._body(answer, out))
            await out.begin()
            await self._stream(answer, relay, out)
            return await out.end()
        except TimeoutError:
            # A client that takes nothing has gone without a word.
            return await out.cut()
        except CutError as error:
            self._failure = str(error)
            return await out.cut()

    async def _stream(self, answer: Answer, relay: Relay | None, out: "_Out") -> None:
        async for chunk in answer.body:
            if self._read(chunk):
                self._settle()
            passed = chunk if relay is None else relay.feed(chunk)
            if passed:
                await out.write(passed)
        self._came_whole = True
        self._settle()
        if relay is not None:
            await out.write(relay.end())

    def _read(self, chunk: bytes) -> bool:
        """Read usage as it passes by; whether a client can know by now that a stream is over."""
        meter = self._meter
        assert meter is not None
        self._passed.update(chunk)
        if self._is_plain:
            meter.feed(chunk)
        else:
            for piece in self._decoder.feed(chunk):
                meter.feed(piece)
        return meter.is_over

    async def _body(self, answer: Answer, out: "_Out") -> bytes:
        """Pass a body on, but for its last piece: the call is settled by then."""
        last = b""
        async for chunk in answer.body:
            self._read(chunk)
            if last:
                await out.write(last)
            last = chunk
        self._came_whole = True
        self._settle()
        return last

    def _settle(self) -> None:
        if not self._is_settled:
            self._is_settled = True
            self._on_end(self._ending())

    def _ending(self) -> Ending:
        reading = Reading() if self._meter is None else self._meter.reading()
        refused = self._status is not None and self._status >= 400
        if not refused and (reading.usage is not None or reading.characters):
            reading = estimate(reading, self._forward.request)
        never_sent = self._status is None and not self._forward.way.sent
        return Ending(
            status=self._status,
            reading=reading,
            provider_failure=self._failure or self._provider_failure(reading),
            spent_nothing=refused or not self._sent or never_sent,
            digests=self._digests(),
            miss=self._miss,
        )

    def _digests(self) -> Digests:
        asked = hashlib.sha256(self._forward.body).hexdigest()
        return Digests(asked, None if self._status is None else self._passed.hexdigest())

    def _provider_failure(self, reading: Reading) -> str | None:
        status = self._status or 0
        if self._miss is not None:
            return f"the cassette has no such call: {self._miss}"
        if status >= 500 or status in _PROVIDER_STATUSES:
            return f"{self._who()} answered {status}: {reading.error or 'no reason given'}"
        if status >= 400:
            return None
        if self._came_whole and not reading.complete and not reading.stop_reason:
            return reading.error or f"{self._who()} answered {status} with what is no whole answer"
        return reading.error

    def _who(self) -> str:
        provider = self._forward.provider
        return f"provider {provider.name!r}" if provider else "the script"


class _Out:
    """The way to the client."""

    def __init__(
        self, http: web.Request, answer: Answer, relay: Relay | None, idle_seconds: float
    ) -> None:
        self._http = http
        self._status = answer.status
        self._headers = _headers(answer, relay)
        self._idle_seconds = idle_seconds
        self._response: web.StreamResponse | None = None

    async def begin(self) -> web.StreamResponse:
        """Send the head, if that has not been done."""
        if self._response is None:
            self._response = web.StreamResponse(status=self._status, headers=self._headers)
            await self._response.prepare(self._http)
        return self._response

    async def write(self, chunk: bytes) -> None:
        """Write; only a client that is behind can keep it waiting, and needs a timer."""
        response, transport = self._response or await self.begin(), self._http.transport
        behind = 0 if transport is None else transport.get_write_buffer_size()
        if behind + len(chunk) < _NEVER_WAITS_BYTES:
            await response.write(chunk)
            return
        async with asyncio.timeout(self._idle_seconds):
            await response.write(chunk)

    async def end(self, last: bytes = b"") -> web.StreamResponse:
        """Write the last piece.

        When it is the first as well it goes in one write with the head: a write costs as much as
        all that is read from a usual answer.
        """
        if self._response is None and len(last) < _NEVER_WAITS_BYTES:
            return web.Response(status=self._status, headers=self._headers, body=last)
        if last:
            await self.write(last)
        response = await self.begin()
        await response.write_eof()
        return response

    async def cut(self) -> web.StreamResponse:
        """End the connection: a client must not take half an answer for a whole one."""
        response = await self.begin()
        if self._http.transport is not None:
            self._http.transport.close()
        return response


def _headers(answer: Answer, relay: Relay | None) -> list[tuple[str, str]]:
    if relay is None:
        return list(answer.headers)
    return [(name, value) for name, value in answer.headers if name.lower() != "content-length"]
