"""Gemini generateContent: requests, answers, errors. Pure, standard library only.

Source: https://ai.google.dev/api/generate-content, tokens and troubleshooting (2026-11).
``promptTokenCount`` are all input tokens, cached ones included; thoughts are counted beside the
candidates. Model and method stand in the URL. Google's JSON takes camelCase and snake_case names.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.wire import gemini_answer
from proctor.wire.fields import mapping, mappings, request_object, text, write_json
from proctor.wire.format import Meter, ModelRequest, Outgoing, RequestError
from proctor.wire.gemini_usage import GeminiTally
from proctor.wire.json_items import JsonItems
from proctor.wire.script import ScriptedAnswer
from proctor.wire.sse import EventParser
from proctor.wire.stream_meter import StreamMeter

GENERATE, STREAM, COUNT = "generateContent", "streamGenerateContent", "countTokens"
METHODS = (GENERATE, STREAM, COUNT)
_MODEL = re.compile(r"[\w@-][\w.@-]*(?:/[\w@-][\w.@-]*)*", re.ASCII)
"""It becomes a part of the URL that our key is sent to: no dots at the beginning of a segment."""
_STATUSES: Mapping[int, str] = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


class Gemini:
    """The format ``gemini``."""

    name = "gemini"
    models_path = "/v1beta/models"
    refusal_status = 400

    def path(self, request: ModelRequest) -> str:
        """By model, and by whether the answer comes in pieces."""
        return f"/v1beta/models/{request.model}:{STREAM if request.stream else GENERATE}"

    def count_path(self, request: ModelRequest) -> str:
        """By model."""
        return f"/v1beta/models/{request.model}:{COUNT}"

    def parse(self, body: bytes, target: str = "") -> ModelRequest:
        """Read a request; ``RequestError`` when it is none."""
        place, _, query = target.partition("?")
        model, _, method = place.rpartition(":")
        if not _MODEL.fullmatch(model) or method not in METHODS:
            raise RequestError(f"{place!r}: MODEL:METHOD is required, methods {', '.join(METHODS)}")
        request = request_object(body)
        request = mapping(_either(request, "generateContentRequest")) or request
        if not isinstance(request.get("contents"), list):
            raise RequestError("contents: a list is required")
        contents = mappings(request["contents"])
        others = [content for content in contents if content.get("role") != "model"]
        return ModelRequest(
            model=model,
            texts=tuple(_parts_text(content) for content in others),
            system=_parts_text(mapping(_either(request, "systemInstruction"))),
            turn=1 + len(contents) - len(others),
            tools=_tool_names(request),
            stream=method == STREAM,
            in_array=method == STREAM and "alt=sse" not in query.split("&"),
        )

    def outgoing(self, body: bytes, request: ModelRequest) -> Outgoing:
        """The request as it is: every answer carries usage."""
        return Outgoing(body)

    def meter(self, events: bool) -> Meter:
        """Read an answer: events, an array of pieces, or one object."""
        return StreamMeter(EventParser() if events else JsonItems(), GeminiTally())

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """The key as ``x-goog-api-key``."""
        return {} if api_key is None else {"x-goog-api-key": api_key}

    def error(self, status: int, message: str) -> bytes:
        """Write an error body."""
        kind = _STATUSES.get(status, "UNAVAILABLE" if status >= 500 else "FAILED_PRECONDITION")
        return write_json({"error": {"code": status, "message": message, "status": kind}})

    def models(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Write a list of models."""
        return gemini_answer.models(names)

    def count(self, tokens: int) -> Mapping[str, Any]:
        """Write a count of tokens."""
        return {"totalTokens": tokens}

    def answer(self, request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
        """Write a scripted answer."""
        return gemini_answer.body(request, answer)

    def answer_stream(self, request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
        """Write a scripted answer as events, or as the pieces of an array."""
        return gemini_answer.pieces_of(request, answer)


def _either(body: Mapping[str, Any], name: str) -> object:
    """A field by its camelCase or its snake_case name."""
    snake = "".join(f"_{c.lower()}" if c.isupper() else c for c in name)
    return body.get(name, body.get(snake))


def _parts_text(content: Mapping[str, Any]) -> str:
    texts = []
    for part in mappings(content.get("parts")):
        answered = mapping(_either(part, "functionResponse")).get("response")
        texts.append(
            text(part.get("text")) or (write_json(mapping(answered)).decode() if answered else "")
        )
    return "\n".join(piece for piece in texts if piece)


def _tool_names(request: Mapping[str, Any]) -> tuple[str, ...]:
    groups = (_either(tool, "functionDeclarations") for tool in mappings(request.get("tools")))
    return tuple(text(tool.get("name")) for group in groups for tool in mappings(group))
