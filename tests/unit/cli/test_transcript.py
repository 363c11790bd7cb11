"""A transcript as people read it."""

import json

from proctor.cli.transcript import readable


def shown(*events):
    return list(readable(json.dumps(event) for event in events))


def test_prompt_text_tools_and_end_are_lines():
    assert shown(
        {"event": "AgentStart", "prompt": "do it"},
        {"event": "GenerationStart"},
        {"event": "TextChunk", "text": "I "},
        {"event": "TextChunk", "text": "will."},
        {"event": "ToolStart", "tool": "bash", "parameters": {"command": "ls"}},
        {"event": "ToolEnd", "status": "ok", "result": "a.txt"},
        {"event": "AgentEnd", "status": "completed", "output": "done"},
    ) == [
        "user: do it",
        "agent: I will.",
        'tool: bash {"command": "ls"}',
        "  ok: a.txt",
        "end: completed\ndone",
    ]


def test_what_is_no_event_stays_as_it_is():
    assert list(readable(["plain text", '{"a": 1}', "[1]"])) == ["plain text", '{"a": 1}', "[1]"]


def test_a_crash_says_why_and_long_results_are_cut():
    crash = {"event": "AgentEnd", "status": "crashed", "crash_reason": "exit code 3"}
    assert shown(crash) == ["end: crashed: exit code 3"]
    (line,) = shown({"event": "ToolEnd", "status": "ok", "result": "x" * 9999})
    assert len(line) < 2100


def test_text_that_nothing_follows_is_shown():
    assert shown({"event": "TextChunk", "text": "cut off"}) == ["agent: cut off"]
