"""A recorded body → what the model said, so that it can be streamed to who asks for it so. Pure."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from proctor.wire.fields import mapping, mappings, text, write_json
from proctor.wire.format import WireFormat
from proctor.wire.script import ScriptedAnswer, ScriptedTool

_Said = tuple[str, str, tuple[ScriptedTool, ...]]
"""Text, thoughts, tools."""

_REASONS: Mapping[str, str] = {
    "max_tokens": "max_tokens",
    "length": "max_tokens",
    "max_output_tokens": "max_tokens",
    "MAX_TOKENS": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "content_filter": "refusal",
    "SAFETY": "refusal",
}
"""Every API's own words; what is not here follows from whether tools are asked for."""


def said(wire_format: WireFormat, body: Any) -> ScriptedAnswer | None:
    """What the body says; None when it is no answer of this API."""
    if not isinstance(body, dict):
        return None
    meter = wire_format.meter(False)
    meter.feed(write_json(body))
    reading = meter.reading()
    words, thoughts, tools = _READERS[wire_format.name](body)
    return ScriptedAnswer(
        text=words,
        tools=tools,
        thinking=thoughts,
        usage=reading.usage,
        details=reading.details,
        stop_reason=_REASONS.get(reading.stop_reason or ""),
    )


def _anthropic(body: Mapping[str, Any]) -> _Said:
    blocks = mappings(body.get("content"))
    tools = (_tool(b.get("name"), b.get("input")) for b in blocks if b.get("type") == "tool_use")
    return (
        "".join(text(b.get("text")) for b in blocks),
        "".join(text(b.get("thinking")) for b in blocks),
        tuple(tools),
    )


def _chat(body: Mapping[str, Any]) -> _Said:
    choice = mapping(next(iter(mappings(body.get("choices"))), None))
    message = mapping(choice.get("message"))
    functions = (mapping(call.get("function")) for call in mappings(message.get("tool_calls")))
    tools = tuple(_tool(f.get("name"), f.get("arguments")) for f in functions)
    return text(message.get("content")), text(message.get("reasoning_content")), tools


def _responses(body: Mapping[str, Any]) -> _Said:
    words, thoughts, tools = "", "", list[ScriptedTool]()
    for item in mappings(body.get("output")):
        match item.get("type"):
            case "message":
                words += "".join(text(part.get("text")) for part in mappings(item.get("content")))
            case "reasoning":
                parts = mappings(item.get("summary"))
                thoughts += "".join(text(part.get("text")) for part in parts)
            case "function_call":
                tools.append(_tool(item.get("name"), item.get("arguments")))
    return words, thoughts, tuple(tools)


def _gemini(body: Mapping[str, Any]) -> _Said:
    candidate = mapping(next(iter(mappings(body.get("candidates"))), None))
    parts = mappings(mapping(candidate.get("content")).get("parts"))
    calls = (mapping(p["functionCall"]) for p in parts if "functionCall" in p)
    return (
        "".join(text(p.get("text")) for p in parts if not p.get("thought")),
        "".join(text(p.get("text")) for p in parts if p.get("thought")),
        tuple(_tool(call.get("name"), call.get("args")) for call in calls),
    )


def _tool(name: object, given: object) -> ScriptedTool:
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError):
            given = {}
    return ScriptedTool(text(name), mapping(given))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], _Said]] = {
    "anthropic-messages": _anthropic,
    "openai-chat": _chat,
    "openai-responses": _responses,
    "gemini": _gemini,
}
