"""Cassettes of a gateway in a cluster: from ConfigMaps and on its volume."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from builders_cassettes import a_cassette, answer_text, answered, asked
from fakes.api_server import GATEWAY_TOKEN, FakeApiServer, running_api_server
from proctor.gateway.account import Account, Admitted, Refused
from proctor.gateway.cassette import RecordedCall
from proctor.gateway.cassette_text import parse_cassette
from proctor.gateway.kube_accounts import AGENT_AUDIENCE, KubeAccounts
from proctor.gateway.kube_cassettes import KEPT_SECONDS, KubeCassettes
from proctor.gateway.record_writing import cassette_text
from proctor.serving.kube import ApiServer, KubeApi

HELLO = asked("Hello")
CASSETTE = cassette_text(a_cassette((HELLO, "one"), (HELLO, "two"), trial="t/default/0"), "r")
OF_CONFIG_MAP = {"mode": "Replay", "cassetteConfigMap": "c", "cassetteKey": "cassette.yaml"}
OF_VOLUME = {"mode": "Replay", "cassettePath": "suite/c.yaml"}
RECORDED = {"mode": "Record", "cassettePath": "suite/c.yaml"}


@dataclass
class Kube:
    """A gateway's view of a fake API server, with a clock that a test moves."""

    server: FakeApiServer
    accounts: KubeAccounts
    seconds: float = 0.0

    async def found(self, models: dict[str, str], **spec: Any) -> Account:
        account = await self.answer(models, **spec)
        assert isinstance(account, Admitted), account
        return account.account

    async def answer(self, models: dict[str, str], **spec: Any) -> object:
        self.server.add_trial("run-1-abc", attempt=1, runUid="run-1", models=models, **spec)
        token = self.server.issue("t", AGENT_AUDIENCE, pod="run-1-abc-1")
        return await self.accounts.find(token)

    async def refusal(self, models: dict[str, str]) -> str:
        found = await self.answer(models)
        assert isinstance(found, Refused)
        assert found.status == 403
        return found.reason


@asynccontextmanager
async def kube_view(folder: Path, cassettes: Path | None) -> AsyncIterator[Kube]:
    token_file = folder / "token"
    token_file.write_text(GATEWAY_TOKEN)
    async with running_api_server() as server:
        api = KubeApi(ApiServer(server.url, token_file))

        def clock() -> float:
            return view.seconds

        held = KubeCassettes(api, cassettes, clock)
        view = Kube(server, KubeAccounts(api, None, clock, held))
        try:
            yield view
        finally:
            await api.close()


@pytest_asyncio.fixture
async def kube(tmp_path: Path) -> AsyncIterator[Kube]:
    async with kube_view(tmp_path, tmp_path / "cassettes") as opened:
        yield opened


def said(account: Account) -> str:
    assert account.tape is not None
    found = account.tape.find(account.seat, HELLO)
    assert isinstance(found, RecordedCall)
    return answer_text(found)


async def test_a_config_map_answers_the_trial_by_its_name_in_every_run(kube: Kube) -> None:
    kube.server.add_config_map("c", {"cassette.yaml": CASSETTE})
    account = await kube.found(OF_CONFIG_MAP)
    assert (account.mode, account.label) == ("Replay", "t/default/0")
    assert said(account) == "one"


async def test_a_run_keeps_its_place_while_it_calls(kube: Kube) -> None:
    kube.server.add_config_map("c", {"cassette.yaml": CASSETTE})
    heard = []
    for _ in range(3):
        heard.append(said(await kube.found(OF_CONFIG_MAP)))
        kube.seconds += KEPT_SECONDS - 1
    assert heard == ["one", "two", "two"]
    assert kube.server.asked.count("GET /api/v1/namespaces/team/configmaps/c") == 1


async def test_a_file_of_the_namespaces_own_folder_answers(kube: Kube, tmp_path: Path) -> None:
    file = tmp_path / "cassettes" / "team" / "suite" / "c.yaml"
    file.parent.mkdir(parents=True)
    file.write_text(CASSETTE)
    assert said(await kube.found(OF_VOLUME)) == "one"


async def test_a_run_is_recorded_in_the_folder_of_its_namespace(kube: Kube, tmp_path: Path) -> None:
    first, second = await kube.found(RECORDED), await kube.found(RECORDED)
    assert first.recorder is second.recorder
    assert first.recorder is not None
    first.recorder.add(first.seat, HELLO, answered("one"), ())
    text = (tmp_path / "cassettes" / "team" / "suite" / "c.yaml").read_text("utf-8")
    (call,) = parse_cassette(text).calls
    assert (call.trial, answer_text(call)) == ("t/default/0", "one")


@pytest.mark.parametrize(
    ("data", "immutable", "reason"),
    [
        pytest.param(None, True, "there is no ConfigMap team/c", id="missing"),
        pytest.param({"cassette.yaml": CASSETTE}, False, "make it immutable", id="can-change"),
        pytest.param({"other": CASSETTE}, True, "has no key 'cassette.yaml'", id="other-key"),
        pytest.param({"cassette.yaml": "rules: []"}, True, "is no cassette", id="bad"),
    ],
)
async def test_a_config_map_that_cannot_be_used_is_named(
    kube: Kube, data: dict[str, str] | None, immutable: bool, reason: str
) -> None:
    if data is not None:
        kube.server.add_config_map("c", data, immutable=immutable)
    assert reason in await kube.refusal(OF_CONFIG_MAP)


@pytest.mark.parametrize(
    "path", [pytest.param("../other/c.yaml", id="dots"), pytest.param("/etc/passwd", id="absolute")]
)
async def test_nobody_reaches_another_namespaces_folder(kube: Kube, path: str) -> None:
    for mode in ("Record", "Replay"):
        reason = await kube.refusal({"mode": mode, "cassettePath": path})
        assert "is not below the folder" in reason


async def test_a_link_out_of_the_folder_is_not_followed(kube: Kube, tmp_path: Path) -> None:
    own = tmp_path / "cassettes" / "team"
    own.mkdir(parents=True)
    (own / "suite").symlink_to(tmp_path)
    assert "is not below the folder" in await kube.refusal(OF_VOLUME)


async def test_a_missing_file_is_named(kube: Kube) -> None:
    assert "cassette 'suite/c.yaml'" in await kube.refusal(OF_VOLUME)


async def test_a_trial_without_a_cassette_is_refused(kube: Kube) -> None:
    assert "names no cassette" in await kube.refusal({"mode": "Replay"})


async def test_a_gateway_without_a_volume_says_which_value_gives_it_one(tmp_path: Path) -> None:
    async with kube_view(tmp_path, None) as kube:
        assert "set gateway.cassettes in the chart" in await kube.refusal(RECORDED)
