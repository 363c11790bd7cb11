"""Builders of the egress proxy's tests: ClientHellos, a small internet, clients."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proctor.api.addresses import is_public
from proctor.api.egress_pass import EgressPass
from proctor.gateway.egress.server import running_proxy
from proctor.gateway.egress.tunnel import Patience, Streams, World

SECRET = b"s" * 48
PUBLIC, OTHER, PRIVATE = "93.184.216.34", "93.184.216.35", "10.0.0.5"


def client_hello(host: str, version: ssl.TLSVersion = ssl.TLSVersion.TLSv1_3) -> bytes:
    """What a TLS client sends first."""
    context = ssl.create_default_context()
    context.minimum_version = context.maximum_version = version
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context.wrap_bio(incoming, outgoing, server_hostname=host)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        return outgoing.read()
    raise AssertionError("a handshake without a server")


@dataclass
class Internet:
    """Names, and servers that answer what they hear with ``echo:``."""

    names: dict[str, list[str]] = field(default_factory=dict)
    now: float = 0.0
    looked_up: list[str] = field(default_factory=list)
    connected: list[tuple[str, int]] = field(default_factory=list)
    heard: bytes = b""
    port: int = 0
    ended: asyncio.Event = field(default_factory=asyncio.Event)

    async def resolve(self, name: str) -> list[str]:
        self.looked_up.append(name)
        if name not in self.names:
            raise OSError("no such name")
        return self.names[name]

    async def connect(self, address: str, port: int) -> Streams:
        self.connected.append((address, port))
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def _echo(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while chunk := await reader.read(65536):
                self.heard += chunk
                writer.write(b"echo:" + chunk)
        finally:
            writer.close()
            self.ended.set()

    @asynccontextmanager
    async def running(self, patience: Patience) -> AsyncIterator["Client"]:
        """The internet and a proxy in front of it."""
        world = World(
            secret=lambda: SECRET,
            resolve=self.resolve,
            is_public=is_public,
            connect=self.connect,
            now=lambda: self.now,
            patience=patience,
        )
        server = await asyncio.start_server(self._echo, "127.0.0.1", 0)
        async with server:
            self.port = server.sockets[0].getsockname()[1]
            async with running_proxy(world, "127.0.0.1", 0) as port:
                yield Client(port)
            if self.connected:
                await self.ended.wait()


@dataclass
class Client:
    """Speaks to the proxy at ``port``."""

    port: int

    async def say(self, head: bytes, then: bytes = b"") -> tuple[bytes, bytes]:
        """Send a head, and, after a 200, the rest: the answer's head, and all that followed."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(head)
            answer = await reader.readuntil(b"\r\n\r\n")
            if b" 200 " in answer:
                writer.write(then)
                writer.write_eof()
            return answer, await reader.read()
        finally:
            writer.close()

    async def connect(
        self, target: str, password: str | None, then: bytes = b""
    ) -> tuple[int, bytes]:
        """CONNECT with a pass: status, and what came after."""
        head, rest = await self.say(connect_head(target, password), then)
        return int(head.split()[1]), rest


def connect_head(target: str, password: str | None, user: str = "proctor") -> bytes:
    """The head of a CONNECT."""
    lines = [f"CONNECT {target} HTTP/1.1", f"Host: {target}"]
    if password is not None:
        coded = base64.b64encode(f"{user}:{password}".encode()).decode()
        lines.append(f"Proxy-Authorization: Basic {coded}")
    return "\r\n".join([*lines, "", ""]).encode()


def a_pass(*hosts: str, expires_at: int = 1000, secret: bytes = SECRET) -> str:
    """Leave to reach these hosts."""
    return EgressPass("trial-uid", 1, hosts, expires_at).signed(secret)
