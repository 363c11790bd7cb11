"""The proxy as it listens: real names, real connections, a bound on how many."""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Sequence
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
    """Serve until the context ends, and with it every tunnel; gives the port."""
    tunnels: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(tunnels) >= MOST_TUNNELS:
            writer.write(RefusedError(503, "too many connections are open").answer())
            writer.close()
            return
        task = asyncio.current_task()
        assert task is not None
        tunnels.add(task)
        try:
            await Tunnel(world, reader, writer).serve()
        finally:
            tunnels.discard(task)

    server = await asyncio.start_server(serve, host, port, limit=LONGEST_HEAD)
    async with server:
        yield int(server.sockets[0].getsockname()[1])
    for task in tunnels:
        task.cancel()
    await asyncio.gather(*tunnels, return_exceptions=True)


async def _resolve(name: str) -> list[str]:
    """Addresses of a full name; the cluster's search domains add nothing to it."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(f"{name}.", None, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


async def _connect(address: str, port: int) -> Streams:
    return await asyncio.open_connection(address, port)
