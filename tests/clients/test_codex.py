"""The real Codex against scripted answers: what it does, how it ends, how often it asks."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from clients.npm import installed
from clients.running import Counted, Ended, agent_key, fails, malformed, run
from proctor.gateway.embed import LocalGateway

pytestmark = pytest.mark.npm
RETRIES = 2
CONFIG = """
model = "gpt-5"
model_provider = "proctor"
check_for_update_on_startup = false
analytics.enabled = false
[model_providers.proctor]
name = "Proctor"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = {retries}
stream_max_retries = {retries}
"""
WORKS = """
rules:
  - when: {turn: 1}
    answer:
      thinking: I need a file.
      text: Writing.
      tools: [{name: exec_command, input: {cmd: "echo hello > a.txt"}}]
      usage: {input: 1000, output: 50, cacheRead: 200, reasoning: 20}
  - answer: {text: Done., usage: {input: 1200, output: 10}}
"""
Codex = Callable[..., Awaitable[Ended]]


@pytest.fixture
def codex(tmp_path: Path) -> Codex:
    async def ask(script: str, **limits: Any) -> Ended:
        home, workspace = tmp_path / "home", tmp_path / "workspace"
        home.mkdir()
        workspace.mkdir()
        async with LocalGateway(watch=(counted := Counted())) as gateway:
            (home / "config.toml").write_text(CONFIG.format(url=gateway.url, retries=RETRIES))
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "CODEX_HOME": str(home),
                "OPENAI_API_KEY": agent_key(gateway, script, **limits),
            }
            command = str(installed("@openai/codex", "codex"))
            options = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]
            argv = [command, "exec", "--json", *options, "-C", str(workspace), "Write a.txt"]
            return await run(argv, env, workspace, gateway, counted)

    return ask


def items(ended: Ended, kind: str) -> list[str]:
    found = [line["item"] for line in ended.lines if line["type"] == "item.completed"]
    return [item["text"] for item in found if item["type"] == kind]


async def test_it_streams_thinks_and_uses_its_tools(codex: Codex, tmp_path: Path) -> None:
    ended = await codex(WORKS)
    assert (ended.exit_code, ended.calls) == (0, 2)
    assert (tmp_path / "workspace" / "a.txt").read_text() == "hello\n"
    assert items(ended, "agent_message") == ["Writing.", "Done."]
    assert items(ended, "reasoning") == ["I need a file."]


async def test_its_own_figures_are_those_of_the_ledger(codex: Codex) -> None:
    ended = await codex(WORKS)
    told, usage = ended.lines[-1]["usage"], ended.bill.usage
    assert told["input_tokens"] == usage.input + usage.cache_read == 2400
    assert told["cached_input_tokens"] == usage.cache_read == 200
    assert told["output_tokens"] == usage.output == 60
    assert told["reasoning_output_tokens"] == 20


@pytest.mark.parametrize(
    ("script", "calls", "says"),
    [
        pytest.param(fails(429), 1 + RETRIES, "429 Too Many Requests", id="429"),
        # It retries the request, and then the turn: each of its two limits counts.
        pytest.param(fails(529), (1 + RETRIES) ** 2, "529", id="529"),
        pytest.param(fails(500), (1 + RETRIES) ** 2, "high demand", id="500"),
        pytest.param(fails(400), 1, "not now", id="400"),
        pytest.param(malformed("truncated"), 1 + RETRIES, "disconnected", id="cut-stream"),
        pytest.param(
            malformed("unfinished"), 1 + RETRIES, "before response.completed", id="without-end"
        ),
        pytest.param(
            malformed("not-json"), 1 + RETRIES, "before response.completed", id="not-json"
        ),
        pytest.param(malformed("empty"), 1 + RETRIES, "before response.completed", id="empty"),
    ],
)
async def test_it_gives_up_after_its_retries(
    codex: Codex, script: str, calls: int, says: str
) -> None:
    ended = await codex(script)
    assert (ended.exit_code, ended.calls) == (1, calls)
    assert says in ended.output
    assert ended.lines[-1]["type"] == "turn.failed"
    assert (ended.bill.provider_error is None) is (calls == 1)


async def test_a_refusal_by_budget_ends_it_at_once(codex: Codex) -> None:
    ended = await codex(WORKS, max_model_calls=1)
    assert (ended.exit_code, ended.calls, ended.refusals) == (1, 1, 1)
    assert "refused by Proctor: 1 of 1 model calls are used" in ended.output
    assert ended.bill.refused == "maxModelCalls"
