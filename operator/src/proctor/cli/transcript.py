"""A transcript's lines as people read them (pure)."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from proctor.api.text import cut

_RESULT_CHARACTERS = 2000


def readable(lines: Iterable[str]) -> Iterator[str]:
    """Text for each event that says something; a line that is no event stays as it is.

    Pieces of one generation's text are joined.
    """
    said: list[str] = []
    for line in lines:
        event = _event(line)
        if event is not None and event.get("event") == "TextChunk":
            said.append(str(event.get("text", "")))
            continue
        if said:
            yield "agent: " + "".join(said).strip()
            said = []
        if event is None:
            yield line
        elif text := _text(event):
            yield text
    if said:
        yield "agent: " + "".join(said).strip()


def _event(line: str) -> Mapping[str, Any] | None:
    try:
        body = json.loads(line)
    except ValueError:
        return None
    return body if isinstance(body, dict) and "event" in body else None


def _text(event: Mapping[str, Any]) -> str:
    kind = event["event"]
    if kind == "AgentStart":
        return f"user: {event.get('prompt', '')}"
    if kind == "ToolStart":
        parameters = json.dumps(event.get("parameters", {}), ensure_ascii=False)
        return f"tool: {event.get('tool', '')} {cut(parameters, _RESULT_CHARACTERS)}"
    if kind == "ToolEnd":
        status = event.get("status", "")
        return f"  {status}: {cut(str(event.get('result', '')), _RESULT_CHARACTERS)}".rstrip()
    if kind == "AgentEnd":
        words = [str(event.get("status", "")), str(event.get("crash_reason") or "")]
        end = ": ".join(word for word in words if word)
        output = cut(str(event.get("output", "")).strip(), _RESULT_CHARACTERS)
        return f"end: {end}" + (f"\n{output}" if output else "")
    if kind == "Truncated":
        return f"… {event.get('dropped', '?')} events were dropped"
    return ""
