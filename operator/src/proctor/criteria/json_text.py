"""Reads JSON that an agent wrote: strict, and bounded so that no document can break the reader."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

MAX_DEPTH = 64
"""Nested arrays and objects; the readers behind (schemas, expressions) recurse."""

MAX_DIGITS = 300
"""Of one integer, so that it still fits a float."""

_TOKENS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[\[{]|[\]}]', re.DOTALL)


class JsonTextError(ValueError):
    """The text is no JSON, or beyond a limit that the message names."""


def parse_json(data: bytes) -> Any:
    """Parse one JSON document in UTF-8, with or without a byte order mark.

    Raises:
        JsonTextError: Also for what RFC 8259 leaves open: duplicate names, NaN and infinities,
            numbers too large for a float, nesting deeper than ``MAX_DEPTH``.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise JsonTextError(f"it is not UTF-8 at byte {error.start}") from None
    if _depth(text) > MAX_DEPTH:
        raise JsonTextError(f"it is nested deeper than {MAX_DEPTH} levels")
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=_constant,
            parse_float=_float,
            parse_int=_int,
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise JsonTextError(f"{error.msg.lower()} at {place}") from None


def _depth(text: str) -> int:
    deepest = depth = 0
    for token in _TOKENS.finditer(text):
        if token[0] in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in "]}":
            depth -= 1
    return deepest


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise JsonTextError(f"it has the name {name[:80]!r} twice in one object")
        found[name] = value
    return found


def _constant(name: str) -> Any:
    raise JsonTextError(f"{name} is not JSON")


def _float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise JsonTextError(f"the number {text[:40]} is too large")
    return number


def _int(text: str) -> int:
    if len(text.lstrip("-")) > MAX_DIGITS:
        raise JsonTextError(f"a number has more than {MAX_DIGITS} digits")
    return int(text)
