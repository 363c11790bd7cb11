"""Requests without what changes from run to run, so that they can be compared. Pure.

Left out: ids, dates, times and durations, paths of workspaces and temporary files, local ports,
hints to caches and signatures, the order of keys, white space at the ends of lines and texts.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from proctor.gateway.cassette import AskedCall
from proctor.gateway.cassette_scrub import scrubbed

_IDS = frozenset({"id", "tool_use_id", "tool_call_id", "call_id", "item_id"})
_DROPPED = frozenset(
    {
        "cache_control",
        "encrypted_content",
        "metadata",
        "signature",
        "thoughtSignature",
        "thought_signature",
    }
)
_PLAIN = frozenset({"args", "input_schema", "parameters", "response", "schema"})
"""Below these names stands what a tool takes or gives: an ``id`` in there may matter."""

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},?"
_CLOCK = r"\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[AP]M)?"
_PART = r"/[\w.+@~-]+"

_CHANGING = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (
            r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
            "<id>",
        ),
        (r"\b((?:[Cc]hunk|[Ss]ession|[Rr]equest|[Tt]hread) ID:?) [0-9A-Za-z-]+", r"\1 <id>"),
        (r"/projects/-[\w-]+", "/projects/<project>"),
        (r"\b(?=[a-f]*[0-9])(?=[0-9]*[a-f])[0-9a-f]{7,40}\b", "<id>"),
        (r"\b(?:toolu|call|msg|chatcmpl|resp|req|fc|rs)[_-][A-Za-z0-9]{8,}\b", "<id>"),
        (
            r"\b\d{4}-\d{2}-\d{2}"
            r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?",
            "<date>",
        ),
        (
            rf"\b(?:{_DAY} +)?{_MONTH} +\d{{1,2}}\b(?:,? +{_CLOCK})?(?: +[A-Z]{{3,4}}\b)?"
            r"(?:,? +\d{4}\b)?",
            "<date>",
        ),
        (rf"\b(?:{_DAY} +)?\d{{1,2}} +{_MONTH} +\d{{4}}\b(?: +{_CLOCK})?", "<date>"),
        (r"\b\d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?\b", "<time>"),
        (r"\b\d+(?:\.\d+)? ?(?:ms|µs)\b|\b\d+\.\d+ ?(?:s|secs?|seconds?)\b", "<duration>"),
        (r"\b0x[0-9a-fA-F]{6,16}\b", "<address>"),
        (r"\b(?:127\.0\.0\.1|localhost):\d{4,5}\b", "<host>"),
    )
)
_REMEMBERED = 4096
_WORK = re.compile(r"/work/(workspace|home)\b")
_PLACES = {"workspace": "/workspace", "home": "/home/agent"}
"""As the folders of a local run are called in a pod."""
_OF_PATHS = frozenset("/._+@~-")
_TEMPORARY = re.compile(rf"(?:/private)?/(?:tmp|var/tmp|var/folders/\w+/\w+/\w){_PART}", re.ASCII)


@dataclass(frozen=True, slots=True)
class NormalCall:
    """A request as it is compared.

    Args:
        key: Equal for requests that get the same answer.
        parts: A digest for everything but the messages, then one for each of them.
    """

    key: str
    value: Mapping[str, Any]
    messages: tuple[Any, ...]
    parts: tuple[str, ...]


def normal(asked: AskedCall) -> NormalCall:
    """Leave out what changes."""
    ids: dict[str, str] = {}
    body = scrubbed(asked.body)
    name = asked.list_name
    head = {key: _value(value, key, ids) for key, value in body.items() if key != name}
    head["operation"], head["format"] = asked.operation, asked.wire_format
    messages = tuple(_value(message, "", ids) for message in (body[name] if name else ()))
    parts = tuple(_digest(part) for part in (head, *messages))
    return NormalCall(_digest(list(parts)), head, messages, parts)


@lru_cache(maxsize=_REMEMBERED)
def normal_text(text: str) -> str:
    """A text without what changes in it; remembered, as a conversation says it in each call."""
    if "/work/" in text:
        text = _placed(text)
    for pattern, replacement in _CHANGING:
        text = pattern.sub(replacement, text)
    text = _TEMPORARY.sub("/tmp/<temporary>", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip()


def _placed(text: str) -> str:
    """The folders of a local run as a pod has them, wherever the run's folder is."""
    parts, taken = list[str](), 0
    for match in _WORK.finditer(text):
        start = match.start()
        while start > taken and (text[start - 1].isalnum() or text[start - 1] in _OF_PATHS):
            start -= 1
        parts += [text[taken:start], _PLACES[match.group(1)]]
        taken = match.end()
    return "".join([*parts, text[taken:]])


def _value(value: Any, name: str, ids: dict[str, str], *, plain: bool = False) -> Any:
    if isinstance(value, str):
        return _string(value, name, ids, plain=plain)
    if isinstance(value, list):
        return [_value(part, "", ids, plain=plain) for part in value]
    if isinstance(value, dict):
        return {
            key: _value(part, key, ids, plain=plain or _is_plain(key, value))
            for key, part in sorted(value.items())
            if plain or key not in _DROPPED
        }
    return value


def _is_plain(key: str, holder: Mapping[str, Any]) -> bool:
    return key in _PLAIN or (key == "input" and "name" in holder)


def _string(text: str, name: str, ids: dict[str, str], *, plain: bool) -> Any:
    if name in _IDS and not plain:
        return ids.setdefault(text, f"id-{len(ids) + 1}")
    if name == "arguments":
        try:
            return _value(json.loads(text), "", ids, plain=True)
        except (ValueError, RecursionError):
            return normal_text(text)
    if name in ("content", "system") and not plain:
        return [{"text": normal_text(text), "type": "text"}]
    return normal_text(text)


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
