from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest_asyncio

from builders_gateway import HELLO, MODEL, an_account, prices
from proctor.gateway.account import Account
from proctor.gateway.embed import LocalGateway
from proctor.gateway.local_accounts import Keys


class Bench:
    def __init__(self, gateway: LocalGateway, client: aiohttp.ClientSession) -> None:
        self.gateway, self._client = gateway, client
        self.keys: Keys = gateway.admit(an_account(HELLO))

    async def get(self, path: str, key: str | None) -> tuple[int, Any]:
        headers = {} if key is None else {"authorization": f"Bearer {key}"}
        async with self._client.get(f"{self.gateway.url}{path}", headers=headers) as response:
            return response.status, await response.json()

    async def close(self, key: str) -> int:
        headers = {"authorization": f"Bearer {key}"}
        url = f"{self.gateway.url}/proctor/v1/close"
        async with self._client.post(url, headers=headers) as response:
            return response.status

    async def call(self, key: str) -> int:
        body = {"model": MODEL, "messages": [{"role": "user", "content": "hi"}]}
        url = f"{self.gateway.url}/v1/messages"
        async with self._client.post(url, json=body, headers={"x-api-key": key}) as response:
            return response.status


@pytest_asyncio.fixture
async def bench() -> AsyncIterator[Bench]:
    async with LocalGateway(prices=prices()) as gateway, aiohttp.ClientSession() as client:
        yield Bench(gateway, client)


async def test_grade_reads_bill_and_entries(bench: Bench) -> None:
    await bench.call(bench.keys.agent)
    status, body = await bench.get("/proctor/v1/ledger", bench.keys.judge)
    assert status == 200
    assert body["bill"] == bench.gateway.bill("trial-1", 1).to_json()
    assert [entry["tools"] for entry in body["entries"]] == [["write"]]


async def test_the_first_read_closes_the_agents_account(bench: Bench) -> None:
    await bench.get("/proctor/v1/ledger", bench.keys.judge)
    assert await bench.call(bench.keys.agent) == 402
    assert (await bench.get("/proctor/v1/ledger", bench.keys.judge))[1]["bill"]["calls"] == 0


async def test_a_ledger_without_a_call_is_zero_in_the_accounts_mode(bench: Bench) -> None:
    _, body = await bench.get("/proctor/v1/ledger", bench.keys.judge)
    assert (body["bill"]["cost_usd"], body["bill"]["mode"]) == ("0", "Scripted")
    assert body["entries"] == []


async def test_the_runner_ends_the_agents_calls_by_the_agents_own_key(bench: Bench) -> None:
    assert await bench.call(bench.keys.agent) == 200
    assert [await bench.close(bench.keys.agent) for _ in range(2)] == [204, 204]
    assert await bench.call(bench.keys.agent) == 402
    assert await bench.call(bench.keys.judge) == 200
    _, body = await bench.get("/proctor/v1/ledger", bench.keys.judge)
    assert (body["bill"]["calls"], body["bill"]["judge_calls"]) == (1, 1)


async def test_only_who_has_an_account_closes_it(bench: Bench) -> None:
    assert await bench.close("proctor-agent-of-nobody") == 401
    assert await bench.call(bench.keys.agent) == 200


async def test_an_agent_cannot_read_its_ledger(bench: Bench) -> None:
    assert await bench.get("/proctor/v1/ledger", bench.keys.agent) == (
        403,
        {"error": "only grade reads the ledger"},
    )
    assert await bench.call(bench.keys.agent) == 200


async def test_a_judges_calls_are_booked_apart_and_take_none_of_the_agents_limits(
    bench: Bench,
) -> None:
    keys = bench.gateway.admit(an_account(HELLO, max_model_calls=1))
    assert [await bench.call(keys.judge) for _ in range(2)] == [200, 200]
    assert [await bench.call(keys.agent) for _ in range(2)] == [200, 402]
    _, body = await bench.get("/proctor/v1/ledger", keys.judge)
    bill = body["bill"]
    assert (bill["calls"], bill["usage"]["input"], bill["cost_usd"]) == (1, 1200, "0.002")
    assert (bill["judge_calls"], bill["judge_usage"]["input"]) == (2, 2400)
    assert bill["judge_cost_usd"] == "0.004"
    assert [entry.get("role") for entry in body["entries"]] == ["judge", "judge", "agent", None]


async def test_a_judge_still_calls_when_the_agents_account_is_closed(bench: Bench) -> None:
    await bench.get("/proctor/v1/ledger", bench.keys.judge)
    assert await bench.call(bench.keys.judge) == 200


async def test_without_a_key_nothing_is_told(bench: Bench) -> None:
    assert (await bench.get("/proctor/v1/ledger", None))[0] == 401


async def test_bills_are_for_the_operator(bench: Bench) -> None:
    assert (await bench.get("/proctor/v1/bills/trial-1/1", bench.keys.judge))[0] == 403


async def test_the_next_attempt_ends_the_keys_of_the_one_before(bench: Bench) -> None:
    keys = bench.gateway.admit(Account("trial-1", 2))
    assert await bench.call(bench.keys.agent) == 403
    assert (await bench.get("/proctor/v1/ledger", bench.keys.judge))[0] == 403
    assert (await bench.get("/proctor/v1/ledger", keys.judge))[0] == 200
