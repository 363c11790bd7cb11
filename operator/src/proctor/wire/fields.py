"""Careful reads from JSON that somebody else wrote. Pure, standard library only."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

from proctor.api.usage import Usage, UsageDetails
from proctor.wire.format import NO_FIGURES, Figures, Reading, RequestError

MAX_BODY_BYTES = 32 * 1024 * 1024
"""A larger JSON answer is not read for usage figures."""

MOST_COUNTED = 2**53
"""A larger figure counts nothing that was: it is none, and no sum of such leaves 64 bits."""


def json_object(data: bytes | str) -> Mapping[str, Any] | None:
    """Parse a JSON object; None when it is none."""
    if data[:1] in ("[", b"["):  # a list, or OpenAI's [DONE]
        return None
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def request_object(data: bytes) -> Mapping[str, Any]:
    """Parse a request.

    Raises:
        RequestError: When it is no object.
    """
    body = json_object(data)
    if body is None:
        raise RequestError("the request body is not a JSON object")
    return body


def named_request(data: bytes) -> Mapping[str, Any]:
    """Parse a request that names its model.

    Raises:
        RequestError: When it does not.
    """
    body = request_object(data)
    if not text(body.get("model")):
        raise RequestError("model: a model name is required")
    return body


def messages_request(data: bytes) -> Mapping[str, Any]:
    """Parse a request with a model and a list of messages.

    Raises:
        RequestError: When it is not such an object.
    """
    body = named_request(data)
    if not isinstance(body.get("messages"), list):
        raise RequestError("messages: a list is required")
    return body


def write_json(body: Mapping[str, Any]) -> bytes:
    """Write a JSON body, compact, in UTF-8; half a surrogate pair becomes a question mark."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def mapping(value: object) -> Mapping[str, Any]:
    """The object, or an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: object) -> Sequence[Mapping[str, Any]]:
    """Those items of a list that are objects."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """The string, or an empty one."""
    return value if isinstance(value, str) else ""


def is_count(value: object) -> TypeGuard[int]:
    """Whether it is a whole number from 0 to ``MOST_COUNTED``."""
    return type(value) is int and 0 <= value <= MOST_COUNTED


def count(value: object) -> int:
    """The count; anything else is 0."""
    return value if is_count(value) else 0


def present(value: object) -> dict[str, Any]:
    """Those fields of an object that are not null."""
    return {name: field for name, field in mapping(value).items() if field is not None}


def figures(usage: Usage, details: UsageDetails, heard: object, said: object) -> Figures:
    """What was told, by the provider's own counts of input and output.

    Without either nothing was measured, and without one of them the usage is a part.
    """
    told = is_count(heard), is_count(said)
    return Figures(usage, details, all(told)) if any(told) else NO_FIGURES


class BodyMeter:
    """Reads one JSON body by a function of its object; an unreadable one gives no figures."""

    is_over = False

    def __init__(self, read: Callable[[Mapping[str, Any]], Reading]) -> None:
        self._read = read
        self._body = bytearray()
        self._too_large = False
        self._bytes = 0

    def feed(self, chunk: bytes) -> None:
        """Keep the bytes, up to the limit."""
        self._bytes += len(chunk)
        self._too_large = self._too_large or len(self._body) + len(chunk) > MAX_BODY_BYTES
        if self._too_large:
            self._body.clear()
        else:
            self._body += chunk

    def reading(self) -> Reading:
        """Read the body as it stands."""
        body = json_object(bytes(self._body))
        return Reading(characters=self._bytes) if body is None else self._read(body)
