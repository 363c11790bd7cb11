"""Events of a stream → the body that the same answer has without streaming. Pure."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from proctor.wire.fields import mapping, mappings, text

_Body = dict[str, Any]


def whole(wire_format: str, events: Sequence[Any]) -> _Body | None:
    """The body; None when the events are not a whole answer."""
    items = [item for item in events if isinstance(item, dict)]
    return _READERS[wire_format](items) if items else None


def _anthropic(items: Sequence[_Body]) -> _Body | None:
    start = next((one["message"] for one in items if one.get("type") == "message_start"), None)
    if not isinstance(start, dict):
        return None
    message, blocks = dict(start), dict[int, _Body]()
    for item in items:
        index = item.get("index", 0)
        match item.get("type"):
            case "content_block_start":
                blocks[index] = dict(item["content_block"])
            case "content_block_delta":
                _add_delta(blocks.setdefault(index, {}), item["delta"])
            case "message_delta":
                message |= mapping(item.get("delta"))
                message["usage"] = {**mapping(message.get("usage")), **mapping(item.get("usage"))}
    message["content"] = [_finished(blocks[index]) for index in sorted(blocks)]
    return message


def _add_delta(block: _Body, delta: Mapping[str, Any]) -> None:
    for name in ("text", "thinking", "partial_json", "signature"):
        if isinstance(delta.get(name), str):
            block[name] = text(block.get(name)) + delta[name]
    if "citation" in delta:
        block["citations"] = [*(block.get("citations") or []), delta["citation"]]


def _finished(block: _Body) -> _Body:
    arguments = block.pop("partial_json", None)
    if arguments is not None:
        block["input"] = _loaded(arguments)
    return block


def _chat(items: Sequence[_Body]) -> _Body | None:
    message: _Body = {"role": "assistant", "content": None}
    calls, finish = dict[int, _Body](), None
    usage = next((one["usage"] for one in reversed(items) if one.get("usage")), None)
    for choice in (c for item in items for c in mappings(item.get("choices"))):
        delta = mapping(choice.get("delta"))
        for name in ("content", "reasoning_content", "refusal"):
            if isinstance(delta.get(name), str) and delta[name]:
                message[name] = text(message.get(name)) + delta[name]
        for call in mappings(delta.get("tool_calls")):
            _add_call(calls.setdefault(call.get("index", 0), {}), call)
        finish = choice.get("finish_reason") or finish
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish}
    head = {name: items[0].get(name) for name in ("id", "created", "model")}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}


def _add_call(call: _Body, piece: Mapping[str, Any]) -> None:
    function = mapping(piece.get("function"))
    known = call.setdefault("function", {"name": "", "arguments": ""})
    known["name"] = text(function.get("name")) or known["name"]
    known["arguments"] += text(function.get("arguments"))
    call |= {name: piece[name] for name in ("id", "type") if piece.get(name)}


def _responses(items: Sequence[_Body]) -> _Body | None:
    ends = ("response.completed", "response.incomplete", "response.failed")
    found = (one.get("response") for one in reversed(items) if one.get("type") in ends)
    last = next(found, None)
    return last if isinstance(last, dict) else None


def _gemini(items: Sequence[_Body]) -> _Body:
    parts = list[_Body]()
    for item in items:
        candidate = mapping(next(iter(mappings(item.get("candidates"))), None))
        for part in mappings(mapping(candidate.get("content")).get("parts")):
            _add_part(parts, dict(part))
    last = dict(items[-1])
    ended = mapping(next(iter(mappings(last.get("candidates"))), None))
    last["candidates"] = [{**ended, "content": {"role": "model", "parts": parts}}]
    return last


def _add_part(parts: list[_Body], part: _Body) -> None:
    """Pieces of one text, or of one thought, become one part."""
    before = parts[-1] if parts else {}
    if "text" in part and "text" in before and part.get("thought") == before.get("thought"):
        parts[-1] = {**before, **part, "text": before["text"] + part["text"]}
    else:
        parts.append(part)


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments or "{}")
    except (ValueError, RecursionError):
        return {}


_READERS: Mapping[str, Callable[[Sequence[_Body]], _Body | None]] = {
    "anthropic-messages": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
}
