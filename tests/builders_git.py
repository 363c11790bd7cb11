"""The egress proxy in front of a git server of the tests, whatever name it is asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from builders_egress import PUBLIC, SECRET
from proctor.api.addresses import is_public
from proctor.gateway.egress.server import running_proxy
from proctor.gateway.egress.tunnel import Streams, World


@asynccontextmanager
async def a_git_proxy(port: int, *addresses: str) -> AsyncIterator[str]:
    """The proxy's address; every name has these addresses, or a public one."""

    async def resolve(name: str) -> list[str]:
        return list(addresses or (PUBLIC,))

    async def connect(address: str, asked: int) -> Streams:
        return await asyncio.open_connection("127.0.0.1", port)

    world = World(
        secret=lambda: SECRET,
        resolve=resolve,
        is_public=is_public,
        connect=connect,
        now=lambda: 0.0,
    )
    async with running_proxy(world, "127.0.0.1", 0) as listening:
        yield f"127.0.0.1:{listening}"
