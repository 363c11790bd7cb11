"""The proxy as it listens: real names, real connections, a bound on how many."""

import asyncio
import socket
import time
from asyncio import StreamReader, StreamWriter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from proctor.api.addresses import is_public
from proctor.gateway.egress.request import LONGEST_HEAD, RefusedError
from proctor.gateway.egress.tunnel import Streams, Tunnel, World

MOST_TUNNELS = 2000


def real_world(secret_file: Path, cluster_ranges: Sequence[str]) -> World:
    """The network of this process; the secret is read anew for each request."""
    return World(
        secret=secret_file.read_bytes,
        resolve=_resolve,
        is_public=lambda address: is_public(address, cluster_ranges),
        connect=_connect,
        now=time.time,
    )


@asynccontextmanager
async def running_proxy(world: World, host: str, port: int) -> AsyncIterator[int]:
    """Serve until the context ends; gives the port."""
    served = _limited(world)
    server = await asyncio.start_server(served, host, port, limit=LONGEST_HEAD)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


def _limited(world: World) -> Callable[[StreamReader, StreamWriter], Awaitable[None]]:
    open_ = 0

    async def serve(reader: StreamReader, writer: StreamWriter) -> None:
        nonlocal open_
        if open_ >= MOST_TUNNELS:
            writer.write(RefusedError(503, "too many connections are open").answer())
            writer.close()
            return
        open_ += 1
        try:
            await Tunnel(world, reader, writer).serve()
        finally:
            open_ -= 1

    return serve


async def _resolve(name: str) -> list[str]:
    """Addresses of a full name; the cluster's search domains add nothing to it."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def _connect(address: str, port: int) -> Streams:
    return await asyncio.open_connection(address, port)
