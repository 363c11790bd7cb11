"""Requests are compared by what matters, and not by what changes from run to run."""

from typing import Any

import pytest

from builders_cassettes import asked
from proctor.gateway.cassette import AskedCall
from proctor.gateway.cassette_normal import normal, normal_text


def chat(*messages: dict[str, Any]) -> AskedCall:
    return AskedCall("openai-chat", "generate", {"model": "gpt-x", "messages": list(messages)})


def tool_turn(name: str, arguments: str = '{"path": "a"}') -> AskedCall:
    call = {"id": name, "type": "function", "function": {"name": "f", "arguments": arguments}}
    return chat(
        {"role": "assistant", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": name, "content": "ok"},
    )


def key(call: AskedCall) -> str:
    return normal(call).key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(tool_turn("call_1"), tool_turn("call_2"), id="ids"),
        pytest.param(
            tool_turn("c", '{"a": 1, "b": 2}'), tool_turn("c", '{"b":2,"a":1}'), id="key order"
        ),
        pytest.param(asked("Today is 2026-01-31."), asked("Today is 2027-02-01."), id="dates"),
        pytest.param(
            asked("Mon Nov 30 17:29:59 UTC 2026"), asked("Tue Dec 1 08:00:01 UTC 2026"), id="clock"
        ),
        pytest.param(asked("at 1a2b3c4d"), asked("at 9f8e7d6"), id="commits"),
        pytest.param(asked("Chunk ID: 123456"), asked("Chunk ID: abc123"), id="ids of a shell"),
        pytest.param(
            asked("~/.claude/projects/-tmp-a-work-workspace/memory/"),
            asked("~/.claude/projects/-workspace/memory/"),
            id="paths that a client made a name of",
        ),
        pytest.param(asked("took 0.31s"), asked("took 12.5 s"), id="durations"),
        pytest.param(
            asked("at /home/me/results/run-1/trials/t/v/0/work/workspace/a.py"),
            asked("at /workspace/a.py"),
            id="workspaces of both front doors",
        ),
        pytest.param(asked("/tmp/tmpab12/x"), asked("/tmp/tmpzz99/x"), id="temporary files"),
        pytest.param(
            asked("http://127.0.0.1:41234/v1"), asked("http://127.0.0.1:5999/v1"), id="port"
        ),
        pytest.param(asked("Write it.  \n"), asked("Write it."), id="white space at ends"),
        pytest.param(
            asked("a"),
            AskedCall(
                "anthropic-messages",
                "generate",
                {
                    "model": "claude-x",
                    "system": [{"type": "text", "text": "Be brief."}],
                    "messages": [
                        {
                            "role": "user",
                            "content": [
                                {
                                    "type": "text",
                                    "text": "a",
                                    "cache_control": {"type": "ephemeral"},
                                }
                            ],
                        }
                    ],
                },
            ),
            id="text in a block, hints to the cache",
        ),
        pytest.param(
            asked("2b7e1516-28ae-d2a6-abf7-158809cf4f3c"),
            asked("00000000-28ae-d2a6-abf7-000000000000"),
            id="uuids",
        ),
    ],
)
def test_what_changes_makes_no_difference(one: AskedCall, other: AskedCall) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(asked("a"), asked("b"), id="text"),
        pytest.param(asked("1234567"), asked("7654321"), id="numbers"),
        pytest.param(asked("defaced"), asked("effaced"), id="words of hexadecimal letters"),
        pytest.param(asked("a"), asked("a", model="claude-y"), id="model"),
        pytest.param(asked("a"), asked("a", system="Be long."), id="system"),
        pytest.param(asked("a"), asked("a", tools=[{"name": "read"}]), id="tools"),
        pytest.param(asked("a", "b", "c"), asked("a"), id="length"),
        pytest.param(
            tool_turn("c", '{"path": "a"}'), tool_turn("c", '{"path": "b"}'), id="arguments"
        ),
        pytest.param(
            asked("a"), AskedCall("anthropic-messages", "count", asked("a").body), id="operation"
        ),
    ],
)
def test_what_matters_makes_a_difference(one: AskedCall, other: AskedCall) -> None:
    assert key(one) != key(other)


def test_ids_still_say_which_result_belongs_to_which_call() -> None:
    def turn(*order: str) -> AskedCall:
        results = [{"role": "tool", "tool_call_id": name, "content": "ok"} for name in order]
        calls = [{"id": name, "function": {"name": name}} for name in ("x", "y")]
        return chat({"role": "assistant", "tool_calls": calls}, *results)

    assert key(turn("x", "y")) != key(turn("y", "x"))


def test_an_id_that_a_tool_takes_matters() -> None:
    def call(number: int) -> AskedCall:
        used = {"type": "tool_use", "id": "toolu_1", "name": "get", "input": {"id": f"n{number}"}}
        return asked("a", messages=[{"role": "assistant", "content": [used]}])

    assert key(call(1)) != key(call(2))


def test_a_secret_that_was_taken_out_still_matches() -> None:
    known = asked("use sk-ant-" + "a" * 24)
    assert key(known) == key(asked("use [secret]"))


def test_long_paths_are_looked_at_in_a_moment() -> None:
    text = "/a" * 200_000 + "/work/x"
    assert normal_text(text) == text
