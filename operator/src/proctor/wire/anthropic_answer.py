"""Scripted answers as Anthropic Messages writes them: one body or events. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.api.usage import Usage
from proctor.wire.fields import write_json
from proctor.wire.format import ModelRequest
from proctor.wire.ids import answer_id, pieces
from proctor.wire.script import ScriptedAnswer
from proctor.wire.sse import event

_CREATED = "1970-01-01T00:00:00Z"
"""A scripted model is the same whenever it is asked for."""


def body(request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
    """The whole message."""
    return {
        **_message(request, answer),
        "content": _blocks(request, answer),
        "stop_reason": answer.reason(),
        "usage": _figures(answer.usage_for(request), answer),
    }


def events(request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
    """The message as events: blocks in pieces, usage at start and end."""
    usage = answer.usage_for(request)
    start = {
        **_message(request, answer),
        "content": [],
        "stop_reason": None,
        "usage": {**_figures(usage, answer), "output_tokens": 1},
    }
    yield _event("message_start", message=start)
    for index, block in enumerate(_blocks(request, answer)):
        yield from _block_events(index, block)
    delta = {"stop_reason": answer.reason(), "stop_sequence": None}
    yield _event("message_delta", delta=delta, usage={"output_tokens": usage.output})
    yield _event("message_stop")


def models(names: Sequence[str]) -> Mapping[str, Any]:
    """A list of models, all on one page."""
    data = [{"type": "model", "id": n, "display_name": n, "created_at": _CREATED} for n in names]
    ends = {"first_id": names[0] if names else None, "last_id": names[-1] if names else None}
    return {"data": data, "has_more": False, **ends}


def _block_events(index: int, block: Mapping[str, Any]) -> Iterator[bytes]:
    empty: dict[str, Any]
    if block["type"] == "text":
        empty = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(block["text"])]
    elif block["type"] == "thinking":
        empty = {**block, "thinking": "", "signature": ""}
        thoughts = pieces(block["thinking"])
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in thoughts]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    else:
        empty = {**block, "input": {}}
        json_text = write_json(block["input"]).decode()
        deltas = [{"type": "input_json_delta", "partial_json": part} for part in pieces(json_text)]
    yield _event("content_block_start", index=index, content_block=empty)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def _event(kind: str, **fields: Any) -> bytes:
    return event({"type": kind, **fields}, kind)


def _message(request: ModelRequest, answer: ScriptedAnswer) -> dict[str, Any]:
    return {
        "id": answer_id("msg_", request, answer),
        "type": "message",
        "role": "assistant",
        "model": request.model,
        "stop_sequence": None,
    }


def _blocks(request: ModelRequest, answer: ScriptedAnswer) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if answer.thinking:
        signature = answer_id("", request, answer)
        blocks.append({"type": "thinking", "thinking": answer.thinking, "signature": signature})
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for number, tool in enumerate(answer.tools):
        blocks.append(
            {
                "type": "tool_use",
                "id": answer_id("toolu_", request, answer, number),
                "name": tool.name,
                "input": dict(tool.input),
            }
        )
    return blocks


def _figures(usage: Usage, answer: ScriptedAnswer) -> dict[str, Any]:
    hour = min(answer.details.cache_write_1h, usage.cache_write)
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_input_tokens": usage.cache_read,
        "cache_creation_input_tokens": usage.cache_write,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.cache_write - hour,
            "ephemeral_1h_input_tokens": hour,
        },
    }
