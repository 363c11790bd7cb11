"""The way from containers without a network to the gateway: a Unix socket that they are given."""

import asyncio
import resource
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

MOST_CONNECTIONS = 128
"""Of one socket at the same time, as many as the runner's own way to it makes; a further one is
closed. Each takes three descriptors of ours."""

_DESCRIPTORS = 65_536
_CHUNK = 65_536


def allow_descriptors() -> None:
    """Let this process hold what its agents' connections take, as far as the system allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(_DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


@asynccontextmanager
async def gateway_socket(url: str) -> AsyncIterator[Path]:
    """A socket that leads to the gateway at ``url`` and nowhere else, while the context lasts.

    In a folder of its own that nobody else may enter, because a socket's path must be short.
    """
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 0
    with tempfile.TemporaryDirectory(prefix="proctor-") as folder:
        path = Path(folder) / "gateway.sock"
        open_ones = set[asyncio.StreamWriter]()
        server = await asyncio.start_unix_server(partial(_connect, host, port, open_ones), path)
        try:
            yield path
        finally:
            server.close()


async def _connect(
    host: str,
    port: int,
    open_ones: set[asyncio.StreamWriter],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    if len(open_ones) >= MOST_CONNECTIONS:
        writer.close()
        return
    open_ones.add(writer)
    try:
        await _join(host, port, reader, writer)
    finally:
        open_ones.discard(writer)


async def _join(
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
