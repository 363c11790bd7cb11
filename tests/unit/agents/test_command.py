import asyncio

import pytest

from builders_agents import LIMITS, Seen, a_session, is_gone
from proctor.agents import command as command_module
from proctor.agents.command import CommandAgent
from proctor.api.events import TextChunk


async def run(tmp_path, text="do it", **options):
    agent, seen = CommandAgent(), Seen()
    await agent.start(a_session(tmp_path, **options))
    return await agent.turn(text, LIMITS, seen), seen


@pytest.mark.parametrize(
    ("way", "command"),
    [
        pytest.param("Stdin", "cat", id="stdin"),
        pytest.param("Argument", 'printf %s "$1"', id="argument"),
        pytest.param("File", 'cat "$1"; cmp "$1" "$PROCTOR_PROMPT_FILE"', id="file"),
        pytest.param("Env", 'printf %s "$PROCTOR_PROMPT"', id="env"),
    ],
)
async def test_the_prompt_arrives_as_it_is(way, command, tmp_path):
    prompt = 'say "hi" to $USER;\n\tit\'s ünïcode `x`'
    end, _ = await run(tmp_path, prompt, command=command, prompt=way)
    assert (end.status, end.output) == ("completed", prompt)


async def test_an_argument_list_gets_the_prompt_last(tmp_path):
    end, _ = await run(tmp_path, "hi", argv=["printf", "%s-%s", "a"], prompt="Argument")
    assert end.output == "a-hi"


async def test_a_prompt_file_lies_outside_the_workspace(tmp_path):
    end, _ = await run(tmp_path, command="ls -A", prompt="File")
    assert end.output == ""


async def test_a_command_that_ignores_its_stdin_succeeds(tmp_path):
    end, _ = await run(tmp_path, "x" * 1_000_000, command="exec <&-; echo ok")
    assert (end.status, end.output) == ("completed", "ok\n")


async def test_it_runs_in_the_workspace_with_exactly_its_environment(tmp_path):
    end, _ = await run(tmp_path, command="pwd; env | cut -d= -f1 | sort | tr '\\n' ' '")
    where, names = end.output.splitlines()
    assert where == str(tmp_path / "workspace")
    assert set(names.split()) - {"_", "PWD", "SHLVL", "OLDPWD"} == {"HOME", "PATH"}


async def test_what_it_prints_is_the_transcript_by_stream(tmp_path):
    _, seen = await run(tmp_path, command="echo out; echo err >&2")
    texts = {(chunk.generation, chunk.text) for chunk in seen.of(TextChunk)}
    assert texts == {("stdout", "out\n"), ("stderr", "err\n")}


async def test_model_calls_are_unknown_not_zero(tmp_path):
    end, _ = await run(tmp_path, command="true")
    assert end.generations is None


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        pytest.param({"command": "exit 3"}, "exit code 3", id="exit-code"),
        pytest.param(
            {"command": "echo a >&2; echo no key >&2; echo >&2; exit 1"},
            "exit code 1; stderr: no key",
            id="last-line-of-stderr",
        ),
        pytest.param({"command": "kill -9 $$"}, "killed by SIGKILL", id="signal"),
        pytest.param({"command": "kill -40 $$"}, "killed by signal 40", id="unnamed-signal"),
        pytest.param({"argv": ["/no/such/agent"]}, "/no/such/agent", id="not-there"),
    ],
)
async def test_a_crash_says_how(options, reason, tmp_path):
    end, _ = await run(tmp_path, **options)
    assert end.status == "crashed"
    assert reason in end.crash_reason


async def test_a_flood_of_output_is_bounded(tmp_path):
    end, seen = await run(tmp_path, command="head -c 3000000 /dev/zero | tr '\\0' a; echo end")
    streamed = sum(len(chunk.text) for chunk in seen.of(TextChunk))
    assert streamed < command_module.LIVE_BYTES + 100
    assert len(end.output) <= 65_536
    assert end.output.endswith("aend\n")


async def test_background_work_neither_delays_the_end_nor_survives_it(tmp_path):
    end, _ = await run(tmp_path, command="sleep 300 & echo $!")
    assert end.status == "completed"
    assert end.seconds < 20
    assert await is_gone(int(end.output))


async def test_a_process_that_ignores_sigterm_is_killed(tmp_path):
    agent, seen = CommandAgent(), Seen()
    await agent.start(
        a_session(tmp_path, command="trap '' TERM; echo $$; while :; do sleep 9; done")
    )
    turn = asyncio.create_task(agent.turn("", LIMITS, seen))
    await seen.first_text.wait()
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert await is_gone(int(seen.of(TextChunk)[0].text))
    assert seen[-1].output.strip().isdigit()
