"""The port ``Accounts``: one suite over random keys and projected tokens."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fakes.api_server import GATEWAY_TOKEN, FakeApiServer, running_api_server
from proctor.api.errors import PlatformError
from proctor.api.evaltrial import TrialLimits
from proctor.gateway.account import Account, Accounts, Admitted, Operator, Refused
from proctor.gateway.kube_accounts import (
    AGENT_AUDIENCE,
    JUDGE_AUDIENCE,
    OPERATOR_AUDIENCE,
    KubeAccounts,
)
from proctor.gateway.local_accounts import LocalAccounts
from proctor.serving.kube import ApiServer, KubeApi
from proctor.wire.script_text import parse_script

LIMITS = {"maxModelCalls": 5, "maxTotalTokens": 1000, "maxUsd": "1.5"}
SCRIPT = "rules: [{answer: {text: hi}}]"


@dataclass
class World:
    """Accounts, and how an attempt gets its keys: agent, judge."""

    accounts: Accounts
    admit: Callable[[int], Awaitable[tuple[str, str]]]


@asynccontextmanager
async def local_world(_: Path) -> AsyncIterator[World]:
    accounts = LocalAccounts()

    async def admit(attempt: int) -> tuple[str, str]:
        limits = TrialLimits(max_model_calls=5, max_total_tokens=1000, max_usd=Decimal("1.5"))
        keys = accounts.admit(Account("trial-1", attempt, limits))
        return keys.agent, keys.judge

    yield World(accounts, admit)


@dataclass
class Kube:
    """A gateway's view of a fake API server, with a clock that a test moves."""

    server: FakeApiServer
    accounts: KubeAccounts
    token_file: Path
    seconds: float = 0.0


@asynccontextmanager
async def kube_view(folder: Path) -> AsyncIterator[Kube]:
    token_file = folder / "token"
    token_file.write_text(GATEWAY_TOKEN)
    async with running_api_server() as server:
        api = KubeApi(ApiServer(server.url, token_file))
        accounts = KubeAccounts(api, "proctor-system/operator", clock=lambda: view.seconds)
        view = Kube(server, accounts, token_file)
        try:
            yield view
        finally:
            await api.close()


@asynccontextmanager
async def kube_world(folder: Path) -> AsyncIterator[World]:
    async with kube_view(folder) as kube:

        async def admit(attempt: int) -> tuple[str, str]:
            kube.seconds += 10
            kube.server.add_trial("run-1-abc", attempt=attempt, limits=LIMITS)
            pod = f"run-1-abc-{attempt}"
            return (
                kube.server.issue(f"agent-{attempt}", AGENT_AUDIENCE, pod=pod),
                kube.server.issue(f"judge-{attempt}", JUDGE_AUDIENCE, pod=pod),
            )

        yield World(kube.accounts, admit)


WORLDS = [pytest.param(local_world, id="local"), pytest.param(kube_world, id="kube")]


@pytest_asyncio.fixture(params=WORLDS)
async def world(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[World]:
    async with request.param(tmp_path) as opened:
        yield opened


async def test_keys_name_account_and_role(world: World) -> None:
    agent, judge = [await world.accounts.find(key) for key in await world.admit(1)]
    assert isinstance(agent, Admitted)
    assert isinstance(judge, Admitted)
    assert (agent.role, judge.role) == ("agent", "judge")
    assert agent.account == judge.account
    assert (agent.account.trial_uid, agent.account.attempt) == ("trial-1", 1)
    assert agent.account.limits.max_usd == Decimal("1.5")


async def test_an_unknown_key_is_unauthorized(world: World) -> None:
    await world.admit(1)
    found = await world.accounts.find("no-such-key")
    assert isinstance(found, Refused)
    assert found.status == 401


async def test_only_the_current_attempt_is_served(world: World) -> None:
    old, _ = await world.admit(1)
    new, _ = await world.admit(2)
    refused, served = await world.accounts.find(old), await world.accounts.find(new)
    assert refused == Refused(403, "attempt 1 is over: the trial is at attempt 2")
    assert isinstance(served, Admitted)
    assert served.account.attempt == 2


@pytest_asyncio.fixture
async def kube(tmp_path: Path) -> AsyncIterator[Kube]:
    async with kube_view(tmp_path) as opened:
        yield opened


def a_pod(kube: Kube, **spec: Any) -> str:
    kube.server.add_trial("run-1-abc", **{"attempt": 1, **spec})
    return kube.server.issue("t", AGENT_AUDIENCE, pod="run-1-abc-1")


async def test_a_pods_account_is_that_of_its_trial(kube: Kube) -> None:
    found = await kube.accounts.find(a_pod(kube, models={"mode": "Live"}))
    assert isinstance(found, Admitted)
    assert found.account == Account(
        "trial-1",
        1,
        namespace="team",
        opened_at=datetime(2026, 1, 31, 9, tzinfo=UTC),
        label="t/default/0",
    )


async def test_a_review_holds_for_a_minute_and_a_trial_for_seconds(kube: Kube) -> None:
    token = a_pod(kube)
    review = "POST /apis/authentication.k8s.io/v1/tokenreviews"

    async def reviews_and_gets(seconds: float) -> tuple[int, int]:
        kube.seconds = seconds
        await kube.accounts.find(token)
        asked = kube.server.asked
        return asked.count(review), len(asked) - asked.count(review)

    assert await reviews_and_gets(0) == (1, 1)
    assert await reviews_and_gets(4.9) == (1, 1)
    assert await reviews_and_gets(59.9) == (1, 2)
    assert await reviews_and_gets(60) == (2, 2)


async def test_a_token_for_another_audience_is_unknown(kube: Kube) -> None:
    token = kube.server.issue("t", "https://kubernetes.default.svc", pod="run-1-abc-1")
    found = await kube.accounts.find(token)
    assert isinstance(found, Refused)
    assert found.status == 401


async def test_the_operator_is_known_by_its_service_account(kube: Kube) -> None:
    ours = kube.server.issue("o", OPERATOR_AUDIENCE, account="proctor-system:operator")
    theirs = kube.server.issue("p", OPERATOR_AUDIENCE, account="team:operator", pod="x-1")
    assert await kube.accounts.find(ours) == Operator()
    assert await kube.accounts.find(theirs) == Refused(
        403, "'team/operator' is not the operator's account"
    )


async def refusal(kube: Kube, token: str) -> str:
    found = await kube.accounts.find(token)
    assert isinstance(found, Refused)
    assert found.status == 403
    return found.reason


@pytest.mark.parametrize(
    "pod",
    [
        pytest.param(None, id="no-pod"),
        pytest.param("alone", id="no-number"),
        pytest.param("-1", id="no-trial"),
        pytest.param("run-x", id="not-a-number"),
    ],
)
async def test_a_token_that_is_not_of_a_trials_pod_is_refused(kube: Kube, pod: str | None) -> None:
    token = kube.server.issue("t", AGENT_AUDIENCE, pod=pod)
    assert await refusal(kube, token) == "the token is not bound to a trial's pod"


async def test_a_pod_without_a_trial_is_refused(kube: Kube) -> None:
    token = kube.server.issue("t", AGENT_AUDIENCE, pod="run-1-abc-1")
    assert await refusal(kube, token) == "there is no EvalTrial team/run-1-abc"


async def test_a_token_of_an_ended_trial_is_refused_although_its_pod_is_kept(kube: Kube) -> None:
    """A trial that died before ``grade`` left its agent's account open for as long as the pod."""
    token = a_pod(kube)
    assert isinstance(await kube.accounts.find(token), Admitted)
    kube.server.end_trial("run-1-abc", "AgentError")
    kube.seconds = 5
    assert await refusal(kube, token) == "the trial has ended"


async def test_a_token_for_two_audiences_is_refused(kube: Kube) -> None:
    token = kube.server.issue("t", AGENT_AUDIENCE, JUDGE_AUDIENCE, pod="run-1-abc-1")
    assert "several audiences" in await refusal(kube, token)


SCRIPTED = {"mode": "Scripted", "scriptConfigMap": "script", "scriptKey": "script.yaml"}


async def test_a_scripted_trial_brings_its_script_read_once(kube: Kube) -> None:
    kube.server.add_config_map("script", {"script.yaml": SCRIPT})
    token = a_pod(kube, models=SCRIPTED)
    found = await kube.accounts.find(token)
    await kube.accounts.find(token)
    assert isinstance(found, Admitted)
    assert (found.account.mode, found.account.script) == ("Scripted", parse_script(SCRIPT))
    assert kube.server.asked.count("GET /api/v1/namespaces/team/configmaps/script") == 1


@pytest.mark.parametrize(
    ("data", "immutable", "reason"),
    [
        pytest.param(None, True, "there is no ConfigMap team/script", id="missing"),
        pytest.param({"script.yaml": SCRIPT}, False, "make it immutable", id="can-change"),
        pytest.param({"other": SCRIPT}, True, "has no key 'script.yaml'", id="other-key"),
        pytest.param({"script.yaml": "rules: []"}, True, "script.yaml.rules: has no", id="bad"),
    ],
)
async def test_a_script_that_cannot_be_used_is_named(
    kube: Kube, data: dict[str, str] | None, immutable: bool, reason: str
) -> None:
    if data is not None:
        kube.server.add_config_map("script", data, immutable=immutable)
    assert reason in await refusal(kube, a_pod(kube, models=SCRIPTED))


async def test_a_scripted_trial_without_a_script_is_refused(kube: Kube) -> None:
    assert "names no script" in await refusal(kube, a_pod(kube, models={"mode": "Scripted"}))


async def test_an_api_server_that_fails_is_our_failure_and_refuses_nobody(kube: Kube) -> None:
    token = a_pod(kube)
    kube.server.broken = 500
    with pytest.raises(PlatformError, match="answered 500 to POST"):
        await kube.accounts.find(token)


async def test_an_api_server_that_is_gone_is_our_failure(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x")
    api = KubeApi(ApiServer("http://127.0.0.1:1", tmp_path / "token"))
    with pytest.raises(PlatformError, match="cannot be asked"):
        await KubeAccounts(api, None).find("t")
    await api.close()


async def test_a_trial_of_a_newer_version_is_our_failure_and_names_the_field(kube: Kube) -> None:
    with pytest.raises(PlatformError, match=r"limits\.maxDreams"):
        await kube.accounts.find(a_pod(kube, limits={"maxDreams": 1}))


async def test_the_gateways_own_token_is_read_again_when_it_rotates(kube: Kube) -> None:
    token = a_pod(kube)
    kube.token_file.write_text("expired")
    with pytest.raises(PlatformError, match="answered 401"):
        await kube.accounts.find(token)
    kube.token_file.write_text(GATEWAY_TOKEN)
    assert isinstance(await kube.accounts.find(token), Admitted)
