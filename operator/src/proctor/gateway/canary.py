"""A port that answers and that no trial may reach: whoever reaches it is not confined."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def canary(host: str, port: int) -> AsyncIterator[int]:
    """Take every connection and hang up; gives the port."""
    server = await asyncio.start_server(_hang_up, host, port)
    async with server:
        yield int(server.sockets[0].getsockname()[1])


async def _hang_up(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()
