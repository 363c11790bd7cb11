"""Calls on their way to a provider that is asked too fast, fails, or is lost."""

import asyncio
import json
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from aiohttp import web

from builders_gateway import A_MESSAGE, MODEL, prices
from fakes.provider import json_reply, running_provider
from fakes.raw_provider import running_raw_provider
from proctor.gateway.account import Account
from proctor.gateway.embed import LocalGateway
from proctor.gateway.providers import FixedKey, Provider
from proctor.gateway.retries import Retries
from proctor.wire.formats import ANTHROPIC_MESSAGES

BUSY = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}


class MeteredProvider:
    """Takes so many requests in a window of time, and says in its headers what is left."""

    def __init__(self, limit: int, window_seconds: float) -> None:
        self.url = ""
        self._limit, self._window = limit, window_seconds
        self._times: deque[float] = deque()
        self.answers: Counter[int] = Counter()
        self.order: list[str] = []

    async def handle(self, request: web.Request) -> web.Response:
        body = json.loads(await request.read())
        now = time.monotonic()
        while self._times and self._times[0] <= now - self._window:
            self._times.popleft()
        if len(self._times) >= self._limit:
            self.answers[429] += 1
            wait = self._times[0] + self._window - now
            return web.json_response(
                BUSY, status=429, headers={"retry-after-ms": str(int(wait * 1000) + 1)}
            )
        self._times.append(now)
        self.answers[200] += 1
        self.order.append(body["messages"][0]["content"])
        await asyncio.sleep(0.01)
        reset = self._times[0] + self._window - time.monotonic() if self._times else 0
        headers = {
            "x-ratelimit-limit-requests": str(self._limit),
            "x-ratelimit-remaining-requests": str(max(0, self._limit - len(self._times))),
            "x-ratelimit-reset-requests": f"{int(max(reset, 0) * 1000)}ms",
        }
        return web.json_response(A_MESSAGE, headers=headers)


@asynccontextmanager
async def metered(limit: int, window_seconds: float) -> AsyncIterator[MeteredProvider]:
    provider = MeteredProvider(limit, window_seconds)
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


@asynccontextmanager
async def a_gateway(url: str, **retries: Any) -> AsyncIterator[LocalGateway]:
    provider = Provider("busy", (ANTHROPIC_MESSAGES,), url, FixedKey("k"))
    async with LocalGateway(
        [provider], prices=prices(), retries=Retries(**{"base_seconds": 0.001, **retries})
    ) as gateway:
        yield gateway


async def call(gateway: LocalGateway, client: aiohttp.ClientSession, trial: str) -> int:
    key = gateway.admit(Account(trial, 1)).agent
    body = {"model": MODEL, "max_tokens": 9, "messages": [{"role": "user", "content": trial}]}
    url, headers = f"{gateway.url}/v1/messages", {"x-api-key": key}
    async with client.post(url, json=body, headers=headers) as response:
        await response.read()
        return response.status


async def test_parallel_trials_do_not_trip_each_other() -> None:
    async with (
        metered(10, 0.3) as provider,
        a_gateway(provider.url) as gateway,
        aiohttp.ClientSession() as client,
    ):
        calls = [call(gateway, client, f"trial-{n}") for n in range(60)]
        statuses = await asyncio.wait_for(asyncio.gather(*calls), 60)
        bills = [gateway.bill(f"trial-{n}", 1) for n in range(60)]
    assert set(statuses) == {200}
    assert provider.answers[200] == 60
    assert all(bill.calls == 1 and bill.provider_error is None for bill in bills)
    # 50 at once are too many; what follows is paced.
    assert provider.answers[429] < 120


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"retry-after-ms": "20"}, id="milliseconds"),
        pytest.param({"retry-after": "0"}, id="seconds"),
        pytest.param({}, id="no-hint"),
    ],
)
async def test_a_call_is_made_again_as_the_provider_asks(headers: dict[str, str]) -> None:
    async with (
        running_provider() as provider,
        a_gateway(provider.url) as gateway,
        aiohttp.ClientSession() as client,
    ):
        provider.replies = [json_reply(BUSY, 429, **headers), json_reply(A_MESSAGE)]
        assert await call(gateway, client, "trial-1") == 200
        assert len(provider.asked) == 2
        assert gateway.bill("trial-1", 1).calls == 1


async def test_a_refusal_without_a_hint_tells_when_a_used_up_limit_is_whole_again() -> None:
    headers = {"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "2h"}
    async with (
        running_provider() as provider,
        a_gateway(provider.url) as gateway,
        aiohttp.ClientSession() as client,
    ):
        provider.replies = [json_reply(BUSY, 429, **headers)]
        assert await call(gateway, client, "trial-1") == 429
        assert len(provider.asked) == 1, "nobody waits two hours"


async def test_a_connection_that_is_lost_at_once_is_tried_again() -> None:
    async with (
        running_raw_provider() as provider,
        a_gateway(provider.url, attempts=2) as gateway,
        aiohttp.ClientSession() as client,
    ):
        assert await call(gateway, client, "trial-1") == 502
        assert provider.connections == 3
        bill = gateway.bill("trial-1", 1)
    assert bill.provider_error == "provider 'busy' did not answer: ServerDisconnectedError"
    assert (bill.calls, bill.cost_complete) == (0, False)


async def until(holds: Callable[[], bool]) -> None:
    """What the gateway books is not told to anybody: look until it is so."""
    async with asyncio.timeout(10):
        while not holds():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


async def test_a_client_that_leaves_before_its_turn_pays_nothing() -> None:
    async with (
        running_provider() as provider,
        a_gateway(provider.url, longest_seconds=60) as gateway,
        aiohttp.ClientSession() as client,
    ):
        provider.replies = [json_reply(BUSY, 429, **{"retry-after": "50"})]
        calling = asyncio.create_task(call(gateway, client, "trial-1"))
        await asyncio.wait_for(provider.reached.wait(), 5)
        waiting = asyncio.create_task(call(gateway, client, "trial-2"))
        await until(lambda: gateway.bill("trial-2", 1).calls == 1)
        for task in (calling, waiting):
            task.cancel()
        await until(lambda: gateway.bill("trial-2", 1).cost_complete)
        assert len(provider.asked) == 1
        bills = [gateway.bill(f"trial-{n}", 1) for n in (1, 2)]
    assert [(b.calls, b.cost_usd, b.cost_complete) for b in bills] == [(0, 0, True)] * 2


async def test_what_the_provider_does_not_want_again_is_not_asked_again() -> None:
    async with (
        running_provider() as provider,
        a_gateway(provider.url) as gateway,
        aiohttp.ClientSession() as client,
    ):
        provider.replies = [json_reply(BUSY, 503, **{"x-should-retry": "false"})]
        assert await call(gateway, client, "trial-1") == 503
        assert len(provider.asked) == 1
