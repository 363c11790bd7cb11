"""The gateway as a process of its own, beside a fake API server."""

import asyncio
import json
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from builders_gateway import HELLO
from fakes.api_server import GATEWAY_TOKEN, FakeApiServer, running_api_server
from fakes.provider import FakeProvider, running_provider, stream_reply
from proctor.gateway.kube_accounts import AGENT_AUDIENCE, JUDGE_AUDIENCE, OPERATOR_AUDIENCE

KEY = "sk-provider-secret"
CONFIG = """
providers:
  - {name: fake, format: anthropic-messages, baseUrl: "%s", apiKeyFile: "%s"}
operatorServiceAccount: proctor-system/operator
"""
SCRIPTED = {"mode": "Scripted", "scriptConfigMap": "script", "scriptKey": "s"}


class Bench:
    """Starts gateways in one folder, so that a later one finds the ledger of the one before."""

    def __init__(self, folder: Path, server: FakeApiServer, provider: FakeProvider) -> None:
        self.folder, self.server, self.provider = folder, server, provider
        (folder / "token").write_text(GATEWAY_TOKEN)
        (folder / "key").write_text(KEY)
        (folder / "config.yaml").write_text(CONFIG % (provider.url, folder / "key"))
        server.add_config_map("script", {"s": HELLO})
        server.add_trial("run-1-abc", attempt=1, models=SCRIPTED)
        server.add_trial("run-2-abc", attempt=1, uid="trial-2")
        self.agent = server.issue("agent-token", AGENT_AUDIENCE, pod="run-1-abc-1")
        self.live = server.issue("live-token", AGENT_AUDIENCE, pod="run-2-abc-1")
        self.judge = server.issue("judge-token", JUDGE_AUDIENCE, pod="run-1-abc-1")
        self.operator = server.issue(
            "operator-token", OPERATOR_AUDIENCE, account="proctor-system:operator"
        )

    @asynccontextmanager
    async def gateway(self, *flags: str) -> AsyncIterator["Gateway"]:
        options = {
            "--config": self.folder / "config.yaml",
            "--host": "127.0.0.1",
            "--port": 0,
            "--probe-port": 0,
            "--canary-port": 0,
            "--ledger-dir": self.folder / "ledger",
            "--drain-seconds": 1,
            "--api-server": self.server.url,
            "--api-token-file": self.folder / "token",
        }
        arguments = [str(part) for option in options.items() for part in option]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "proctor.gateway", *arguments, *flags, stderr=PIPE
        )
        try:
            assert process.stderr is not None
            line = json.loads(await process.stderr.readline())
            async with aiohttp.ClientSession() as client:
                port, probes, canary = map(int, re.findall(r"\d+", line["message"]))
                urls = [f"http://127.0.0.1:{one}" for one in (port, probes)]
                yield Gateway(process, urls, canary, client)
        finally:
            if process.returncode is None:
                process.kill()
            await process.communicate()


class Gateway:
    def __init__(
        self, process: Process, urls: list[str], canary: int, client: aiohttp.ClientSession
    ) -> None:
        self.process, self.canary, self._client = process, canary, client
        self._url, self._probes = urls

    def call(self, token: str, **fields: Any) -> Any:
        body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": "hi"}]}
        headers = {"x-api-key": token}
        return self._client.post(
            f"{self._url}/v1/messages", json={**body, **fields}, headers=headers
        )

    async def get(self, path: str, token: str | None = None) -> tuple[int, str]:
        headers = {} if token is None else {"authorization": f"Bearer {token}"}
        async with self._client.get(f"{self._url}{path}", headers=headers) as response:
            return response.status, await response.text()

    async def probe(self, path: str) -> tuple[int, str]:
        async with self._client.get(f"{self._probes}{path}") as response:
            return response.status, await response.text()

    async def stop(self) -> tuple[int, str]:
        """Exit code and what it logged."""
        self.process.send_signal(signal.SIGTERM)
        _, errors = await asyncio.wait_for(self.process.communicate(), 30)
        assert self.process.returncode is not None
        return self.process.returncode, errors.decode()


@pytest_asyncio.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    async with running_api_server() as server, running_provider() as provider:
        yield Bench(tmp_path, server, provider)


async def test_a_process_serves_probes_calls_ledger_bills_and_metrics(bench: Bench) -> None:
    async with bench.gateway() as gateway:
        assert (await gateway.probe("/healthz"))[0] == 200
        assert (await gateway.probe("/readyz"))[0] == 200
        async with gateway.call(bench.agent) as response:
            assert response.status == 200
        ledger = json.loads((await gateway.get("/proctor/v1/ledger", bench.judge))[1])
        _, bill = await gateway.get("/proctor/v1/bills/trial-1/1", bench.operator)
        status, metrics = await gateway.probe("/metrics")
        code, log = await gateway.stop()
    assert (ledger["bill"]["calls"], ledger["bill"]["cost_complete"]) == (1, False)
    assert json.loads(bill)["usage"]["input"] == 1200
    assert status == 200
    assert (
        'proctor_gateway_calls_total{model="claude-sonnet-4-5",namespace="team",'
        'provider="script",status="2xx"} 1.0'
    ) in metrics
    assert "cost_usd_total{" not in metrics
    assert code == 0
    assert "model call" not in log


async def test_a_verbose_process_logs_every_call(bench: Bench) -> None:
    async with bench.gateway("--verbose") as gateway:
        async with gateway.call(bench.agent) as response:
            assert response.status == 200
        _, log = await gateway.stop()
    lines = [json.loads(line) for line in log.splitlines()]
    assert ("model call", "trial-1") in [(x["message"], x.get("trial_uid")) for x in lines]
    assert {line["logger"].partition(".")[0] for line in lines} == {"proctor"}


async def test_trials_find_no_metrics_on_their_port_and_the_canary_hangs_up(bench: Bench) -> None:
    async with bench.gateway() as gateway:
        found = [(await gateway.get(path))[0] for path in ("/metrics", "/healthz", "/readyz")]
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.canary)
        said = await reader.read()
        writer.close()
    assert (found, said) == ([404, 404, 404], b"")


async def test_a_killed_process_forgets_nothing_that_was_spent(bench: Bench) -> None:
    bench.provider.replies = [stream_reply(b": wait\n\n", hold=True)]
    async with bench.gateway() as gateway:
        async with gateway.call(bench.agent) as response:
            await response.read()
        async with gateway.call(bench.live, stream=True) as response:
            await response.content.readany()
            gateway.process.kill()
            await gateway.process.wait()
    async with bench.gateway() as gateway:
        first = json.loads((await gateway.get("/proctor/v1/bills/trial-1/1", bench.operator))[1])
        second = json.loads((await gateway.get("/proctor/v1/bills/trial-2/1", bench.operator))[1])
    assert (first["calls"], first["cost_usd"], first["cost_complete"]) == (1, "0.0048", True)
    assert (second["calls"], second["cost_complete"]) == (1, False)


async def test_no_key_and_no_token_reaches_log_or_ledger(bench: Bench) -> None:
    bench.provider.replies = [stream_reply(b"data: {}\n\n")]
    async with bench.gateway() as gateway:
        for token in (bench.agent, bench.live, "stranger-token"):
            async with gateway.call(token) as response:
                seen = str(response.headers) + await response.text()
                assert KEY not in seen
        _, log = await gateway.stop()
    assert bench.provider.asked[0].headers["x-api-key"] == KEY
    files = [path for path in (bench.folder / "ledger").rglob("*") if path.is_file()]
    kept = "".join(path.read_text() for path in files)
    assert "CallOpened" in kept
    for secret in (KEY, GATEWAY_TOKEN, bench.agent, bench.live, "stranger-token"):
        assert secret not in log + kept


async def test_a_bill_without_calls_is_complete_only_when_the_ledger_was_there(
    bench: Bench,
) -> None:
    found = {}
    async with bench.gateway() as gateway:
        for since in ("", "2020-01-01T00:00:00Z", "2999-01-01T00:00:00Z", "2026-01-01", "soon"):
            query = f"?since={since}" if since else ""
            status, bill = await gateway.get(f"/proctor/v1/bills/trial-9/1{query}", bench.operator)
            found[since] = (status, json.loads(bill).get("cost_complete"))
    assert found == {
        "": (200, False),
        "2020-01-01T00:00:00Z": (200, False),
        "2999-01-01T00:00:00Z": (200, True),
        "2026-01-01": (400, None),
        "soon": (400, None),
    }


async def test_a_runs_spending_is_for_the_operator_with_what_runs_now(bench: Bench) -> None:
    bench.server.add_trial("run-1-abc", attempt=1, models=SCRIPTED, runUid="run-uid")
    async with bench.gateway() as gateway:
        async with gateway.call(bench.agent) as response:
            await response.read()
        status, body = await gateway.get("/proctor/v1/runs/run-uid?running=true", bench.operator)
        denied, _ = await gateway.get("/proctor/v1/runs/run-uid", bench.judge)
        odd, _ = await gateway.get("/proctor/v1/runs/..%2F..", bench.operator)
        _, bill = await gateway.get("/proctor/v1/bills/trial-1/1?run=run-uid", bench.operator)
    found = json.loads(body)
    assert (status, denied, odd) == (200, 403, 400)
    assert (found["run"]["calls"], found["run"]["cost_usd"]) == (1, "0")
    assert found["run"]["scripted_cost_usd"] == "0.0048"
    assert found["running"]["trial-1/1"] == json.loads(bill)


async def test_an_api_server_that_fails_makes_a_call_worth_another_try(bench: Bench) -> None:
    async with bench.gateway() as gateway:
        bench.server.broken = 500
        async with gateway.call(bench.agent) as response:
            assert (response.status, response.headers.get("x-should-retry")) == (503, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["--config", "missing.yaml"], "missing.yaml", id="no-file"),
        pytest.param(["--config", os.devnull], "--api-server", id="not-in-a-cluster"),
    ],
)
async def test_a_bad_start_ends_with_2_and_says_why(arguments: list[str], message: str) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("KUBERNETES_")}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proctor.gateway", *arguments, stderr=PIPE, env=environment
    )
    _, errors = await process.communicate()
    assert process.returncode == 2
    assert message in errors.decode()
