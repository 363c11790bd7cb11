"""The real Claude Code against scripted answers: what it does, how it ends, how often it asks."""

import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from clients.npm import installed
from clients.running import Counted, Ended, agent_key, fails, malformed, run
from proctor.gateway.embed import LocalGateway

pytestmark = pytest.mark.npm
MODEL = "claude-sonnet-5"
RETRIES = 2
WORKS = """
rules:
  - when: {turn: 1}
    answer:
      thinking: I need a file.
      text: Writing.
      tools: [{name: Bash, input: {command: "echo hello > a.txt", description: writes}}]
      usage: {input: 1000, output: 50, cacheRead: 200, cacheWrite: 100}
  - answer: {text: Done., usage: {input: 1200, output: 10}}
"""
Claude = Callable[..., Awaitable[Ended]]


@pytest.fixture
def claude(tmp_path: Path) -> Claude:
    async def ask(script: str, **limits: Any) -> Ended:
        home, workspace = tmp_path / "home", tmp_path / "workspace"
        home.mkdir()
        workspace.mkdir()
        async with LocalGateway(watch=(counted := Counted())) as gateway:
            env = {
                "PATH": os.environ["PATH"],
                "HOME": str(home),
                "ANTHROPIC_BASE_URL": gateway.url,
                "ANTHROPIC_API_KEY": agent_key(gateway, script, **limits),
                "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                "CLAUDE_CODE_MAX_RETRIES": str(RETRIES),
                "IS_SANDBOX": "1",
            }
            command = str(installed("@anthropic-ai/claude-code", "claude"))
            options = ["--output-format", "json", "--dangerously-skip-permissions"]
            argv = [command, "-p", "Write a.txt", "--model", MODEL, *options]
            return await run(argv, env, workspace, gateway, counted)

    return ask


async def test_it_streams_thinks_and_uses_its_tools(claude: Claude, tmp_path: Path) -> None:
    ended = await claude(WORKS)
    assert (ended.exit_code, ended.calls) == (0, 2)
    assert (tmp_path / "workspace" / "a.txt").read_text() == "hello\n"
    assert (ended.lines[-1]["result"], ended.lines[-1]["num_turns"]) == ("Done.", 2)


async def test_its_own_figures_and_cost_are_those_of_the_ledger(claude: Claude) -> None:
    ended = await claude(WORKS)
    told, bill = ended.lines[-1], ended.bill
    usage = told["usage"]
    assert (usage["input_tokens"], usage["output_tokens"]) == (bill.usage.input, bill.usage.output)
    assert usage["cache_read_input_tokens"] == bill.usage.cache_read == 200
    assert usage["cache_creation_input_tokens"] == bill.usage.cache_write == 100
    assert told["total_cost_usd"] == pytest.approx(float(bill.cost_usd or 0), rel=1e-9)


@pytest.mark.parametrize(
    ("script", "calls", "says"),
    [
        pytest.param(fails(429), 1 + RETRIES, "not now", id="429"),
        pytest.param(fails(529), 1 + RETRIES, "529 not now", id="529"),
        pytest.param(fails(500), 1 + RETRIES, "500 not now", id="500"),
        # It asks again with fewer beta features: that a 400 may be about one of them is its guess.
        pytest.param(fails(400), 6, "400 not now", id="400"),
        # The stream, its retries, and once without streaming.
        pytest.param(malformed("truncated"), 2 + RETRIES, "Connection", id="cut-stream"),
        pytest.param(malformed("unfinished"), 1 + RETRIES, "malformed", id="stream-without-end"),
        pytest.param(malformed("not-json"), 2, "malformed", id="not-json"),
        pytest.param(malformed("empty"), 2, "malformed", id="empty"),
    ],
)
async def test_it_gives_up_after_its_retries(
    claude: Claude, script: str, calls: int, says: str
) -> None:
    ended = await claude(script)
    assert (ended.exit_code, ended.calls) == (1, calls)
    assert says in ended.lines[-1]["result"]
    assert ended.lines[-1]["is_error"] is True
    assert (ended.bill.provider_error is None) is ("400" in says)


async def test_a_refusal_by_budget_ends_it_at_once(claude: Claude) -> None:
    ended = await claude(WORKS, max_model_calls=1)
    assert (ended.exit_code, ended.calls) == (1, 1)
    assert ended.refusals == 1
    assert "refused by Proctor: 1 of 1 model calls are used" in ended.lines[-1]["result"]
    assert ended.bill.refused == "maxModelCalls"
