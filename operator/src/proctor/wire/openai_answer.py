"""Scripted answers as Chat Completions writes them: one body or chunks. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.api.usage import Usage
from proctor.wire.fields import write_json
from proctor.wire.format import ModelRequest
from proctor.wire.ids import answer_id, pieces
from proctor.wire.script import ScriptedAnswer
from proctor.wire.sse import event

_FINISH_REASONS: Mapping[str, str] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    "refusal": "content_filter",
}
_CREATED = 0
"""Seconds since the epoch: a scripted answer is the same whenever it is given."""


def body(request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
    """The whole completion."""
    message: dict[str, Any] = {
        "role": "assistant",
        "content": answer.text or None,
        "refusal": None,
    }
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.tools:
        message["tool_calls"] = _tool_calls(request, answer)
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": _FINISH_REASONS[answer.reason()],
    }
    usage = _figures(answer.usage_for(request), answer.reasoning)
    return {**_head(request, answer, "chat.completion"), "choices": [choice], "usage": usage}


def chunks(request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
    """The completion as chunks; the usage chunk only when the request asks for it."""
    yield _chunk(request, answer, {"role": "assistant", "content": ""})
    for piece in pieces(answer.thinking):
        yield _chunk(request, answer, {"reasoning_content": piece})
    for piece in pieces(answer.text):
        yield _chunk(request, answer, {"content": piece})
    for index, call in enumerate(_tool_calls(request, answer)):
        yield from _tool_chunks(request, answer, index, call)
    yield _chunk(request, answer, {}, _FINISH_REASONS[answer.reason()])
    if request.usage_in_stream:
        usage = _figures(answer.usage_for(request), answer.reasoning)
        head = _head(request, answer, "chat.completion.chunk")
        yield event({**head, "choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def models(names: Sequence[str]) -> Mapping[str, Any]:
    """A list of models."""
    data = [{"id": n, "object": "model", "created": _CREATED, "owned_by": "script"} for n in names]
    return {"object": "list", "data": data}


def _tool_chunks(
    request: ModelRequest, answer: ScriptedAnswer, index: int, call: dict[str, Any]
) -> Iterator[bytes]:
    function = call["function"]
    first = {**call, "index": index, "function": {**function, "arguments": ""}}
    yield _chunk(request, answer, {"tool_calls": [first]})
    for piece in pieces(function["arguments"]):
        part = {"index": index, "function": {"arguments": piece}}
        yield _chunk(request, answer, {"tool_calls": [part]})


def _chunk(
    request: ModelRequest, answer: ScriptedAnswer, delta: dict[str, Any], finish: str | None = None
) -> bytes:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    return event({**_head(request, answer, "chat.completion.chunk"), "choices": [choice]})


def _head(request: ModelRequest, answer: ScriptedAnswer, kind: str) -> dict[str, Any]:
    return {
        "id": answer_id("chatcmpl-", request, answer),
        "object": kind,
        "created": _CREATED,
        "model": request.model,
    }


def _tool_calls(request: ModelRequest, answer: ScriptedAnswer) -> list[dict[str, Any]]:
    return [
        {
            "id": answer_id("call_", request, answer, number),
            "type": "function",
            "function": {"name": tool.name, "arguments": write_json(tool.input).decode()},
        }
        for number, tool in enumerate(answer.tools)
    ]


def _figures(usage: Usage, reasoning: int) -> dict[str, Any]:
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": usage.output,
        "total_tokens": prompt + usage.output,
        "prompt_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": reasoning},
    }
