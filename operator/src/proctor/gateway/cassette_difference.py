"""Where a request differs from a recorded one, in one line. Pure."""

import json
from typing import Any

from proctor.gateway.cassette_normal import NormalCall

_AROUND = 40
"""Characters shown on each side of where two texts part."""

_Found = tuple[str, Any, Any]
_ABSENT = object()


def difference(recorded: NormalCall, asked: NormalCall) -> str:
    """The first place where they part: first in model and format, then in the messages."""
    for name in ("operation", "format", "model"):
        if recorded.value.get(name) != asked.value.get(name):
            return _said(name, recorded.value.get(name), asked.value.get(name))
    for index, (one, other) in enumerate(zip(recorded.messages, asked.messages, strict=False)):
        found = _first(one, other, f"messages[{index}]")
        if found is not None:
            return _said(*found)
    if len(recorded.messages) != len(asked.messages):
        return f"it has {len(recorded.messages)} messages, this call {len(asked.messages)}"
    found = _first(recorded.value, asked.value, "")
    return "nothing that is compared" if found is None else _said(*found)


def _first(one: Any, other: Any, at: str) -> _Found | None:
    if one == other:
        return None
    if isinstance(one, dict) and isinstance(other, dict):
        names = sorted({*one, *other})
        pairs = [(_below(at, n), one.get(n, _ABSENT), other.get(n, _ABSENT)) for n in names]
    elif isinstance(one, list) and isinstance(other, list):
        most = max(len(one), len(other))
        pairs = [(f"{at}[{i}]", _at(one, i), _at(other, i)) for i in range(most)]
    else:
        return at, one, other
    found = (_first(first, second, place) for place, first, second in pairs)
    return next((place for place in found if place is not None), None)


def _below(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def _at(items: list[Any], index: int) -> Any:
    return items[index] if index < len(items) else _ABSENT


def _said(at: str, recorded: Any, asked: Any) -> str:
    one, other = _text(recorded), _text(asked)
    start = max(0, _parting(one, other) - _AROUND)
    return f"{at} was {_excerpt(one, start)}, is {_excerpt(other, start)}"


def _text(value: Any) -> str:
    if value is _ABSENT or value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _parting(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _excerpt(text: str, start: int) -> str:
    if not text:
        return "absent"
    part = text[start : start + 2 * _AROUND]
    return f"{'…' if start else ''}{part!r}{'…' if start + len(part) < len(text) else ''}"
