"""A provider that answers with raw bytes: what no HTTP library would send."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager


class RawProvider:
    """Reads one request of each connection, then sends its parts and closes.

    Args:
        parts: What is sent.
        hold: Whether the connection stays open after it, until the client goes away.
    """

    def __init__(self, parts: Iterable[bytes], *, hold: bool = False) -> None:
        self.url = ""
        self.hold = hold
        self.parts = parts
        self.connections = 0
        self.gone = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                int(line.partition(b":")[2])
                for line in head.splitlines()
                if line.lower().startswith(b"content-length")
            )
            await reader.readexactly(length)
            for part in self.parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(0)
            if self.hold:
                await reader.read()
        except (ConnectionError, asyncio.IncompleteReadError):
            self.gone.set()
        finally:
            writer.close()


@asynccontextmanager
async def running_raw_provider(*parts: bytes) -> AsyncIterator[RawProvider]:
    provider = RawProvider(parts)
    async with raw_server(provider):
        yield provider


@asynccontextmanager
async def raw_server(provider: RawProvider) -> AsyncIterator[RawProvider]:
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    provider.url = f"http://127.0.0.1:{port}"
    try:
        yield provider
    finally:
        server.close()
