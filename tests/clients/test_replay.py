"""The real command lines, recorded once, replay in another place with a new session."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from builders_gateway import an_account
from clients.npm import installed
from clients.running import Counted, Ended, run
from clients.test_claude_code import MODEL
from clients.test_claude_code import WORKS as CLAUDE_WORKS
from clients.test_codex import CONFIG
from clients.test_codex import WORKS as CODEX_WORKS
from proctor.gateway.account import Account
from proctor.gateway.cassette_text import parse_cassette
from proctor.gateway.embed import LocalGateway
from proctor.gateway.providers import FixedKey, Provider
from proctor.gateway.record_file import Recorder
from proctor.gateway.replay_tape import Tape
from proctor.wire.formats import FORMATS

pytestmark = pytest.mark.npm


def claude(url: str, key: str, home: Path) -> tuple[list[str], Mapping[str, str]]:
    command = str(installed("@anthropic-ai/claude-code", "claude"))
    options = ["--output-format", "json", "--dangerously-skip-permissions"]
    env = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": key,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "IS_SANDBOX": "1",
    }
    return [command, "-p", "Write a.txt", "--model", MODEL, *options], env


def codex(url: str, key: str, home: Path) -> tuple[list[str], Mapping[str, str]]:
    (home / "config.toml").write_text(CONFIG.format(url=url, retries=0))
    options = ["--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
    command = [str(installed("@openai/codex", "codex")), "exec", *options, "Write a.txt"]
    return command, {"CODEX_HOME": str(home), "OPENAI_API_KEY": key}


@dataclass(frozen=True)
class Cli:
    """A command line, the script of its recording, and where its API lies below the gateway."""

    start: Callable[[str, str, Path], tuple[list[str], Mapping[str, str]]]
    script: str
    wire_format: str
    below: str = ""


async def worked(cli: Cli, gateway: LocalGateway, account: Account, place: Path) -> Ended:
    home, workspace = place / "work" / "home", place / "work" / "workspace"
    home.mkdir(parents=True)
    workspace.mkdir()
    argv, env = cli.start(gateway.url, gateway.admit(account).agent, home)
    whole = {"PATH": os.environ["PATH"], "HOME": str(home), **env}
    return await run(argv, whole, workspace, gateway, Counted())


@pytest.mark.parametrize(
    "cli",
    [
        pytest.param(Cli(claude, CLAUDE_WORKS, "anthropic-messages"), id="claude-code"),
        pytest.param(Cli(codex, CODEX_WORKS, "openai-responses", "/v1"), id="codex"),
    ],
)
async def test_a_recorded_session_replays_elsewhere(cli: Cli, tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.yaml"
    async with LocalGateway() as upstream:
        key = upstream.admit(an_account(cli.script)).agent
        wire_format = FORMATS[cli.wire_format]
        provider = Provider("fake", (wire_format,), upstream.url + cli.below, FixedKey(key))
        async with LocalGateway((provider,)) as gateway:
            recorder = Recorder(cassette, "run-1")
            account = Account("trial-1", 1, mode="Record", recorder=recorder)
            recorded = await worked(cli, gateway, account, tmp_path / "here")
    assert recorded.exit_code == 0, recorded.output
    text = cassette.read_text("utf-8")
    assert key not in text
    async with LocalGateway() as gateway:
        account = Account("trial-1", 1, mode="Replay", tape=Tape(parse_cassette(text)))
        replayed = await worked(cli, gateway, account, tmp_path / "quite" / "elsewhere")
        misses = [one["miss"] for one in gateway.entries("trial-1", 1) if one["miss"]]
    assert misses == []
    assert replayed.exit_code == 0, replayed.output
    for place in ("here", "quite/elsewhere"):
        assert (tmp_path / place / "work" / "workspace" / "a.txt").read_text() == "hello\n"
    assert replayed.bill.usage == recorded.bill.usage
