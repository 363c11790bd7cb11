"""Fifty trials, one budget, and a gateway that is killed in between: nothing spent is forgotten."""

import asyncio
import json
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp

from fakes.api_server import GATEWAY_TOKEN, FakeApiServer, running_api_server
from fakes.random_provider import RandomProvider, running_random_provider
from proctor.api.usage import RUN_BUDGET, Bill, RunSpending
from proctor.gateway.kube_accounts import AGENT_AUDIENCE, OPERATOR_AUDIENCE

TRIALS = 50
BUDGET = Decimal("1.5")
MAX_TOKENS = 500
SEED = 1
CONFIG = """
providers: [{name: fake, format: anthropic-messages, baseUrl: "%s"}]
prices: [{model: m, inputUsdPerMtok: 1, outputUsdPerMtok: 10, source: made up for tests}]
operatorServiceAccount: proctor-system/operator
"""
DEAREST = Decimal(MAX_TOKENS * 10 + 1000) / 1_000_000


class Bench:
    """A gateway that is started anew after each kill, on the same ledger."""

    def __init__(self, folder: Path, server: FakeApiServer, provider: RandomProvider) -> None:
        self._folder, self._server = folder, server
        self._up = asyncio.Event()
        self._url = ""
        (folder / "token").write_text(GATEWAY_TOKEN)
        (folder / "config.yaml").write_text(CONFIG % provider.url)
        for n in range(TRIALS):
            server.add_trial(
                f"run-{n}", uid=f"trial-{n}", runUid="run-uid", runBudgetUsd=str(BUDGET)
            )
            server.issue(f"agent-{n}", AGENT_AUDIENCE, pod=f"run-{n}-1")
        server.issue("operator", OPERATOR_AUDIENCE, account="proctor-system:operator")

    @asynccontextmanager
    async def gateway(self) -> AsyncIterator[Process]:
        options = {
            "--config": self._folder / "config.yaml",
            "--host": "127.0.0.1",
            "--port": 0,
            "--probe-port": 0,
            "--canary-port": 0,
            "--ledger-dir": self._folder / "ledger",
            "--drain-seconds": 0,
            "--api-server": self._server.url,
            "--api-token-file": self._folder / "token",
        }
        arguments = [str(part) for option in options.items() for part in option]
        with (self._folder / "log").open("ab") as log:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "proctor.gateway", *arguments, stdout=log, stderr=PIPE
            )
        assert process.stderr is not None
        line = json.loads(await process.stderr.readline())
        port, *_ = re.findall(r"\d+", line["message"])
        self._url = f"http://127.0.0.1:{port}"
        reading = asyncio.create_task(process.stderr.read())
        self._up.set()
        try:
            yield process
        finally:
            self._up.clear()
            if process.returncode is None:
                process.kill()
            await process.wait()
            await reading

    async def trial(self, number: int, client: aiohttp.ClientSession) -> str:
        """Call until the gateway refuses for good; what it said then."""
        body = {
            "model": "m",
            "max_tokens": MAX_TOKENS,
            "messages": [{"role": "user", "content": "hello " * 50}],
        }
        headers = {"x-api-key": f"agent-{number}"}
        while True:
            await self._up.wait()
            try:
                url = f"{self._url}/v1/messages"
                async with client.post(url, json=body, headers=headers) as response:
                    text = await response.text()
            except (aiohttp.ClientError, ConnectionError):
                await asyncio.sleep(0.01)
                continue
            if response.headers.get("x-should-retry") == "false":
                return text

    async def get(self, path: str, client: aiohttp.ClientSession) -> dict[str, Any]:
        headers = {"authorization": "Bearer operator"}
        url = f"{self._url}/proctor/v1/{path}"
        async with client.get(url, headers=headers) as response:
            body: dict[str, Any] = await response.json()
            return body


def taken(provider: RandomProvider) -> Decimal:
    return sum((Decimal(i + 10 * o) / 1_000_000 for i, o in provider.taken), Decimal(0))


async def test_what_was_spent_before_a_kill_is_spent_after_it(tmp_path: Path) -> None:
    connector = aiohttp.TCPConnector(limit=0)
    async with (
        running_api_server() as server,
        running_random_provider(SEED, 0.05) as provider,
        aiohttp.ClientSession(connector=connector) as client,
    ):
        bench = Bench(tmp_path, server, provider)
        trials = [asyncio.create_task(bench.trial(n, client)) for n in range(TRIALS)]
        for calls in (130, 300):
            async with bench.gateway() as process:
                await provider.wait_for_calls(calls)
                process.kill()
        async with bench.gateway():
            refusals = await asyncio.wait_for(asyncio.gather(*trials), 120)
            run = RunSpending.from_json((await bench.get("runs/run-uid", client))["run"])
            bills = [
                Bill.from_json(await bench.get(f"bills/trial-{n}/1?run=run-uid", client))
                for n in range(TRIALS)
            ]
    assert all("the run's budget" in refusal for refusal in refusals)
    assert {bill.refused for bill in bills} == {RUN_BUDGET}
    assert run.cost_usd >= taken(provider), "something that was spent is forgotten"
    assert run.cost_usd - BUDGET < TRIALS * DEAREST
    assert sum((bill.cost_usd or 0 for bill in bills), Decimal(0)) == run.cost_usd
    assert (run.open_calls, run.cost_complete) == (0, False)
