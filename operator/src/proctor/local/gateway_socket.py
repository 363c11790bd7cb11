"""The way from containers without a network to the gateway: a Unix socket that they are given."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

_CHUNK = 65_536


@asynccontextmanager
async def gateway_socket(url: str) -> AsyncIterator[Path]:
    """A socket that leads to the gateway at ``url`` and nowhere else, while the context lasts.

    In a folder of its own that nobody else may enter, because a socket's path must be short.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        path = Path(folder) / "gateway.sock"
        server = await asyncio.start_unix_server(partial(_connect, host, port), path)
        try:
            yield path
        finally:
            server.close()


async def _connect(
    host: str, port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    try:
        gateway_reader, gateway_writer = await asyncio.open_connection(host, port)
    except OSError:
        writer.close()
        return
    try:
        async with asyncio.TaskGroup() as both:
            both.create_task(_copy(reader, gateway_writer))
            both.create_task(_copy(gateway_reader, writer))
    finally:
        gateway_writer.close()
        writer.close()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Carry what one side says to the other, until it has said all or nobody listens."""
    with suppress(OSError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()
