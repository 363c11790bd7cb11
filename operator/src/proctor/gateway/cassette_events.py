"""Events of a stream, joined so that a person can read them, and cut again to be replayed. Pure."""

from collections.abc import Iterable, Iterator
from typing import Any

from proctor.wire.fields import write_json
from proctor.wire.ids import pieces
from proctor.wire.sse import event

_PIECES = frozenset(
    {
        "arguments",
        "content",
        "delta",
        "partial_json",
        "reasoning",
        "reasoning_content",
        "refusal",
        "text",
        "thinking",
    }
)
"""Under these names an event carries the next piece of a text."""

_NOISE = frozenset({"obfuscation", "sequence_number"})
"""Padding and running numbers: they differ in each event, and are made anew."""

_NAMED = frozenset({"anthropic-messages", "openai-responses"})
"""Formats whose events carry their ``type`` as their name."""

_Path = tuple[str | int, ...]


def joined(events: Iterable[Any]) -> tuple[Any, ...]:
    """Events with the pieces of each text in one of them; pings are left out."""
    kept: list[Any] = []
    for item in events:
        clean = _without_noise(item)
        if isinstance(clean, dict) and clean.get("type") == "ping":
            continue
        one = _join(kept[-1], clean) if kept else None
        if one is None:
            kept.append(clean)
        else:
            kept[-1] = one
    return tuple(kept)


def written(wire_format: str, events: Iterable[Any]) -> Iterator[bytes]:
    """Events as the API streams them, long texts in pieces."""
    number = 0
    for item in events:
        for part in _cut(item):
            if not isinstance(part, dict):
                yield f"data: {part}\n\n".encode()
                continue
            if wire_format == "openai-responses":
                part = {**part, "sequence_number": number}
                number += 1
            name = part.get("type") if wire_format in _NAMED else None
            yield event(part, name if isinstance(name, str) else None)


def written_whole(events: Iterable[Any]) -> bytes:
    """Events as bytes, uncut, for a meter to read."""
    return b"".join(b"data: " + write_json(e) + b"\n\n" for e in events if isinstance(e, dict))


def _without_noise(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {name: part for name, part in value.items() if name not in _NOISE}


def _join(first: Any, second: Any) -> Any | None:
    """One event for two that differ at most in their piece of text; None: they are not such."""
    if not (_is_delta(first) and _is_delta(second)):
        return None
    at = _piece(first)
    if at is None or at != _piece(second):
        return None
    if _with(first, at, "") != _with(second, at, ""):
        return None
    return _with(first, at, _get(first, at) + _get(second, at))


def _cut(item: Any) -> Iterator[Any]:
    at = _piece(item) if _is_delta(item) else None
    whole = "" if at is None else _get(item, at)
    if at is None or not whole:
        yield item
        return
    for piece in pieces(whole):
        yield _with(item, at, piece)


def _is_delta(item: Any) -> bool:
    if not isinstance(item, dict):
        return False
    kind = item.get("type")
    return "choices" in item or (isinstance(kind, str) and "delta" in kind)


def _piece(item: Any) -> _Path | None:
    """Where the one piece of text stands; None: there is none, or more than one."""
    found = list(_pieces(item, ()))
    return found[0] if len(found) == 1 else None


def _pieces(value: Any, at: _Path) -> Iterator[_Path]:
    if isinstance(value, dict):
        for name, part in value.items():
            if isinstance(part, str) and name in _PIECES:
                yield (*at, name)
            else:
                yield from _pieces(part, (*at, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _pieces(part, (*at, index))


def _get(value: Any, at: _Path) -> Any:
    for step in at:
        value = value[step]
    return value


def _with(value: Any, at: _Path, text: str) -> Any:
    if not at:
        return text
    step, *rest = at
    if isinstance(value, list):
        return [_with(p, tuple(rest), text) if i == step else p for i, p in enumerate(value)]
    return {n: _with(p, tuple(rest), text) if n == step else p for n, p in value.items()}
