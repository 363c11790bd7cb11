"""A YAML scalar → a JSON value, as Kubernetes' own clients resolve it: dates stay text."""

import math
import re
from typing import Any

import yaml

from proctor.api.errors import Problem

_NULL = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE = frozenset({"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})
_FALSE = frozenset({"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"})
_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9_]*)$")
_BASED = re.compile(r"[-+]?0(x_*[0-9a-fA-F][0-9a-fA-F_]*|o?_*[0-7][0-7_]*|b_*[01][01_]*)$")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9]*)?)([eE][-+]?[0-9]+)?$")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)$|\.(nan|NaN|NAN)$")
_TAG = "tag:yaml.org,2002:"
_MOST_DIGITS = 300
"""Of a number; nothing that a person writes has more, and Python refuses to read some of them."""


def scalar_value(event: yaml.ScalarEvent, path: str, problems: list[Problem]) -> Any:
    """The value of a scalar; what JSON cannot say is added to ``problems`` and becomes text."""
    text, tag = str(event.value), event.tag
    if tag in (f"{_TAG}str", "!"):
        return text
    if tag is not None and tag not in {
        f"{_TAG}{kind}" for kind in ("int", "float", "bool", "null")
    }:
        problems.append(_problem(event, path, f"the tag {tag} is not read", "remove the tag"))
        return text
    if tag is None and not event.implicit[0]:
        return text
    if len(text) > _MOST_DIGITS and _is_number(text):
        message = f"a number of {len(text)} characters is not read"
        problems.append(_problem(event, path, message, "write fewer digits, or quote it"))
        return text
    value = _plain(text)
    if _NOT_FINITE.fullmatch(text) or value in (math.inf, -math.inf):
        problems.append(_problem(event, path, f"{text} is not a finite number", "write a number"))
        return text
    return value


def _is_number(text: str) -> bool:
    return any(form.fullmatch(text) for form in (_WHOLE, _BASED, _FLOAT))


def _plain(text: str) -> Any:
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _WHOLE.fullmatch(text):
        return int(text.replace("_", ""))
    if _BASED.fullmatch(text):
        return _based(text.replace("_", ""))
    if _FLOAT.fullmatch(text):
        return float(text.replace("_", ""))
    return text


def _based(text: str) -> int:
    sign = -1 if text.startswith("-") else 1
    digits = text.lstrip("+-")
    if digits[1] in "xob":
        return sign * int(digits, 0)
    return sign * int(digits, 8)


def _problem(event: yaml.ScalarEvent, path: str, message: str, remedy: str) -> Problem:
    mark = event.start_mark
    return Problem(path, message, remedy, line=None if mark is None else mark.line + 1)
