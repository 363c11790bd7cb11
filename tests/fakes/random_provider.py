"""A provider whose calls cost what chance says, and which knows what it took for each."""

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web


class RandomProvider:
    """Answers Anthropic Messages after a random while, with at most the output asked for.

    Args:
        seed: Of costs and times.
        longest_seconds: An answer takes at most so long.
    """

    def __init__(self, seed: int, longest_seconds: float) -> None:
        self.url = ""
        self._random = random.Random(seed)
        self._longest_seconds = longest_seconds
        self.taken: list[tuple[int, int]] = []
        """Input and output tokens of every call, also of those whose answer nobody got."""
        self.arrived = asyncio.Condition()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        asked = json.loads(body)
        tokens = (
            self._random.randint(1, len(body) // 4),
            self._random.randint(1, asked["max_tokens"]),
        )
        self.taken.append(tokens)
        async with self.arrived:
            self.arrived.notify_all()
        await asyncio.sleep(self._random.uniform(0, self._longest_seconds))
        return web.json_response(
            {
                "id": "m",
                "type": "message",
                "role": "assistant",
                "model": asked["model"],
                "content": [{"type": "text", "text": "x"}],
                "stop_reason": "end_turn",
                "usage": {"input_tokens": tokens[0], "output_tokens": tokens[1]},
            }
        )

    async def wait_for_calls(self, count: int) -> None:
        """Until so many have arrived."""
        async with self.arrived:
            await asyncio.wait_for(self.arrived.wait_for(lambda: len(self.taken) >= count), 60)


@asynccontextmanager
async def running_random_provider(
    seed: int, longest_seconds: float
) -> AsyncIterator[RandomProvider]:
    provider = RandomProvider(seed, longest_seconds)
    app = web.Application()
    app.router.add_post("/v1/messages", provider.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield provider
    finally:
        await runner.cleanup()
