"""The loop of ``mini``, against a model API on loopback."""

import json

import pytest

from builders_agents import LIMITS, Seen, a_session, an_error, chat_answer, messages_answer
from fakes.model_server import Answer, model_server
from proctor.agents.contract import TurnLimits
from proctor.agents.mini.agent import SYSTEM_PROMPT, MiniAgent
from proctor.api.events import GenerationEnd, TextChunk, ToolEnd, ToolStart
from proctor.api.usage import Usage


async def run(folder, *answers, limits=LIMITS, **options):
    """One turn; gives its end, its events and what the model was asked."""
    async with model_server(*answers) as server:
        agent, seen = MiniAgent(), Seen()
        given = {"gateway_url": server.url, "model": "m-1", **options}
        await agent.start(a_session(folder, "mini", **given))
        end = await agent.turn("write a.txt", limits, seen)
        await agent.stop()
        return end, seen, server.asked


WRITE = {"path": "docs/a.txt", "content": "hello"}


async def test_messages_and_tools_go_round_until_the_model_wants_no_more(tmp_path):
    end, seen, asked = await run(
        tmp_path, messages_answer("I write.", ("write", WRITE)), messages_answer("Done.")
    )
    assert (end.status, end.output, end.generations) == ("completed", "Done.", 2)
    assert (tmp_path / "workspace/docs/a.txt").read_text() == "hello"
    assert seen.names() == [
        "AgentStart",
        "GenerationStart",
        "TextChunk",
        "GenerationEnd",
        "ToolStart",
        "ToolEnd",
        "GenerationStart",
        "TextChunk",
        "GenerationEnd",
        "AgentEnd",
    ]
    assert asked[1].body["messages"] == [
        {"role": "user", "content": "write a.txt"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I write."},
                {"type": "tool_use", "id": "call-0", "name": "write", "input": WRITE},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "call-0",
                    "content": "wrote 5 bytes to docs/a.txt",
                }
            ],
        },
    ]


async def test_chat_completions_go_the_same_way(tmp_path):
    end, _, asked = await run(
        tmp_path,
        chat_answer("", ("write", json.dumps(WRITE)), ("list", "")),
        chat_answer("Done."),
        api="ChatCompletions",
    )
    assert (end.status, end.output, end.generations) == ("completed", "Done.", 2)
    assert asked[1].path == "/v1/chat/completions"
    assert [message["role"] for message in asked[1].body["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "tool",
    ]
    assert asked[1].body["messages"][4] == {
        "role": "tool",
        "tool_call_id": "call-1",
        "content": "docs/",
    }


async def test_a_messages_request_has_key_model_system_and_tools(tmp_path):
    _, _, (asked,) = await run(tmp_path, messages_answer("ok"), tools=["read"], maxOutputTokens=9)
    assert asked.path == "/v1/messages"
    assert asked.headers["x-api-key"] == "key"
    assert (asked.body["model"], asked.body["max_tokens"]) == ("m-1", 9)
    assert asked.body["system"] == SYSTEM_PROMPT
    assert [tool["name"] for tool in asked.body["tools"]] == ["read"]


async def test_a_chat_request_has_key_model_system_and_no_empty_tools(tmp_path):
    _, _, (asked,) = await run(
        tmp_path, chat_answer("ok"), api="ChatCompletions", tools=[], systemPrompt="Be brief."
    )
    assert asked.headers["authorization"] == "bearer key"
    assert asked.body["messages"][0] == {"role": "system", "content": "Be brief."}
    assert "tools" not in asked.body


@pytest.mark.parametrize(
    ("answer", "api"),
    [
        pytest.param(messages_answer("ok"), "Messages", id="messages"),
        pytest.param(chat_answer("ok"), "ChatCompletions", id="chat"),
    ],
)
async def test_usage_is_reported_with_cached_tokens_apart(answer, api, tmp_path):
    _, seen, _ = await run(tmp_path, answer, api=api)
    (end,) = seen.of(GenerationEnd)
    assert end.usage == Usage(input=10, output=5, cache_read=3)


@pytest.mark.parametrize(
    ("body", "api"),
    [
        pytest.param({"content": []}, "Messages", id="messages"),
        pytest.param({"content": [], "usage": {}}, "Messages", id="messages-empty"),
        pytest.param({"choices": [{"message": {"content": "ok"}}]}, "ChatCompletions", id="chat"),
        pytest.param(
            {"choices": [{"message": {"content": "ok"}}], "usage": {}},
            "ChatCompletions",
            id="chat-empty",
        ),
    ],
)
async def test_no_figures_are_no_usage(body, api, tmp_path):
    _, seen, _ = await run(tmp_path, Answer(body), api=api)
    assert seen.of(GenerationEnd)[0].usage is None


async def test_thinking_is_told_apart(tmp_path):
    body = {"content": [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "ok"}]}
    _, seen, _ = await run(tmp_path, Answer(body))
    assert [(chunk.text, chunk.thinking) for chunk in seen.of(TextChunk)] == [
        ("hm", True),
        ("ok", False),
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        pytest.param(("read", {"path": "nope"}), "nope is not a file", id="missing-file"),
        pytest.param(("read", {"path": "../../etc/passwd"}), "outside the workspace", id="escape"),
        pytest.param(("fly", {}), "there is no tool 'fly'", id="unknown-tool"),
        pytest.param(("write", {"path": "a"}), "parameter 'content'", id="missing-parameter"),
    ],
)
async def test_a_tools_error_goes_back_to_the_model(call, said, tmp_path):
    end, seen, asked = await run(tmp_path, messages_answer("", call), messages_answer("sorry"))
    assert end.status == "completed"
    (result,) = asked[1].body["messages"][2]["content"]
    assert result["is_error"] is True
    assert said in result["content"]
    assert [event.status for event in seen.of(ToolEnd)] == ["error"]


@pytest.mark.parametrize(
    "arguments", [pytest.param("{", id="not-json"), pytest.param("[1]", id="not-an-object")]
)
async def test_arguments_that_cannot_be_read_go_back_to_the_model(arguments, tmp_path):
    _, seen, asked = await run(
        tmp_path, chat_answer("", ("list", arguments)), chat_answer("ok"), api="ChatCompletions"
    )
    assert asked[1].body["messages"][3]["content"].startswith("Error: arguments are not")
    assert seen.of(ToolStart)[0].parameters == {}


async def test_an_input_that_is_no_object_goes_back_to_the_model(tmp_path):
    block = {"type": "tool_use", "id": "c", "name": "list", "input": "x"}
    _, _, asked = await run(tmp_path, Answer({"content": [block]}), messages_answer("ok"))
    assert asked[1].body["messages"][2]["content"][0]["content"] == "input is not an object"


async def test_the_turn_limit_counts_model_calls_and_ends_after_the_last_ones_tools(tmp_path):
    again = messages_answer("", ("list", {}))
    end, seen, asked = await run(tmp_path, again, again, again, limits=TurnLimits(30, max_turns=2))
    assert (end.status, end.generations, len(asked)) == ("max_turns", 2, 2)
    assert [event.status for event in seen.of(ToolEnd)] == ["ok", "ok"]


async def test_a_limit_that_is_just_enough_is_not_reached(tmp_path):
    end, _, _ = await run(tmp_path, messages_answer("ok"), limits=TurnLimits(30, max_turns=1))
    assert end.status == "completed"


async def test_a_second_user_message_goes_on_with_the_same_history(tmp_path):
    async with model_server(messages_answer("one"), messages_answer("two")) as server:
        agent = MiniAgent()
        await agent.start(a_session(tmp_path, "mini", gateway_url=server.url + "/", model="m"))
        await agent.turn("first", LIMITS, Seen())
        await agent.turn("second", LIMITS, Seen())
    texts = [message["content"] for message in server.asked[1].body["messages"]]
    assert texts == ["first", [{"type": "text", "text": "one"}], "second"]


@pytest.mark.parametrize("status", [408, 429, 500, 503, 529])
async def test_a_passing_failure_is_asked_again_after_the_wait_it_names(status, tmp_path):
    failure = an_error(status, retry_after="0")
    end, _, asked = await run(tmp_path, failure, failure, messages_answer("ok"))
    assert (end.status, end.generations, len(asked)) == ("completed", 1, 3)


async def test_a_failure_that_stays_is_a_crash_after_a_few_attempts(tmp_path):
    failures = [an_error(529, "overloaded_error", "busy", retry_after="0")] * 5
    end, seen, asked = await run(tmp_path, *failures)
    assert len(asked) == 3
    assert end.status == "crashed"
    assert end.crash_reason == (
        "model call refused: HTTP 529 overloaded_error: busy (after 3 attempts)"
    )
    assert [event.status for event in seen.of(GenerationEnd)] == ["interrupted"]


@pytest.mark.parametrize(
    "refusal",
    [
        pytest.param(an_error(400, "invalid_request_error"), id="400"),
        pytest.param(an_error(401, "authentication_error"), id="401"),
        pytest.param(an_error(403, "permission_error"), id="403"),
        pytest.param(an_error(429, "budget_exceeded", retry_after="0"), id="budget-as-429"),
        pytest.param(Answer(b"<html>", status=404), id="no-json"),
    ],
)
async def test_any_other_refusal_is_final(refusal, tmp_path):
    end, _, asked = await run(tmp_path, refusal, messages_answer("never"))
    assert (end.status, len(asked)) == ("crashed", 1)
    assert f"HTTP {refusal.status}" in end.crash_reason


@pytest.mark.parametrize(
    ("answer", "api", "said"),
    [
        pytest.param(Answer(b"hi"), "Messages", "not a JSON object", id="no-json"),
        pytest.param(Answer([1]), "Messages", "not a JSON object", id="no-object"),
        pytest.param(Answer({}), "Messages", "no list of content blocks", id="no-content"),
        pytest.param(Answer({"choices": []}), "ChatCompletions", "no choice", id="no-choice"),
        pytest.param(
            Answer({"choices": [{"message": {"tool_calls": [{}]}}]}),
            "ChatCompletions",
            "a tool call has no function",
            id="no-function",
        ),
    ],
)
async def test_an_answer_that_is_none_is_a_crash(answer, api, said, tmp_path):
    end, _, _ = await run(tmp_path, answer, api=api)
    assert end.status == "crashed"
    assert said in end.crash_reason


@pytest.mark.parametrize(
    ("options", "said"),
    [
        pytest.param({"gateway_url": None}, "needs the model gateway", id="no-gateway"),
        pytest.param({"model": None}, "needs a model", id="no-model"),
    ],
)
async def test_without_a_model_to_ask_the_turn_crashes_with_the_reason(options, said, tmp_path):
    end, _, _ = await run(tmp_path, **options)
    assert (end.status, end.generations) == ("crashed", 0)
    assert said in end.crash_reason
