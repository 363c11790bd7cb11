"""OpenAI Chat Completions: requests, answers, errors. Pure, standard library only.

Source: https://platform.openai.com/docs/api-reference/chat and error codes (2025-06).
``prompt_tokens`` are all input tokens; those read from the cache or written to it are a part.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.wire import openai_answer
from proctor.wire.fields import (
    BodyMeter,
    mapping,
    mappings,
    messages_request,
    present,
    request_object,
    text,
)
from proctor.wire.format import Figures, Meter, ModelRequest, Outgoing, Reading
from proctor.wire.openai_errors import bearer, error_body, error_text
from proctor.wire.openai_figures import openai_figures
from proctor.wire.openai_usage import HideUsage
from proctor.wire.script import ScriptedAnswer
from proctor.wire.sse import EventParser
from proctor.wire.stream_meter import StreamMeter

_SYSTEM_ROLES = ("system", "developer")


class OpenAIChat:
    """The format ``openai-chat``."""

    name = "openai-chat"
    models_path = "/models"
    refusal_status = 400

    def path(self, request: ModelRequest) -> str:
        """The same for all requests."""
        return "/chat/completions"

    def count_path(self, request: ModelRequest) -> None:
        """This API counts no tokens."""

    def parse(self, body: bytes, target: str = "") -> ModelRequest:
        """Read a request; ``RequestError`` when it is none."""
        request = messages_request(body)
        messages = mappings(request["messages"])
        system = [m for m in messages if m.get("role") in _SYSTEM_ROLES]
        others = [m for m in messages if m.get("role") not in _SYSTEM_ROLES]
        options = mapping(request.get("stream_options"))
        functions = (mapping(tool.get("function")) for tool in mappings(request.get("tools")))
        return ModelRequest(
            model=request["model"],
            texts=tuple(_content_text(message.get("content")) for message in others),
            system="\n".join(_content_text(message.get("content")) for message in system),
            turn=1 + sum(message.get("role") == "assistant" for message in others),
            tools=tuple(text(function.get("name")) for function in functions),
            stream=request.get("stream") is True,
            usage_in_stream=options.get("include_usage") is True,
        )

    def outgoing(self, body: bytes, request: ModelRequest) -> Outgoing:
        """Ask for usage in a stream whose client did not, and hide it from that client.

        Without it a stream carries no figures, and an agent could leave its limits by not asking.
        """
        if not request.stream or request.usage_in_stream:
            return Outgoing(body)
        asked = dict(request_object(body))
        asked["stream_options"] = {**mapping(asked.get("stream_options")), "include_usage": True}
        return Outgoing(json.dumps(asked).encode(), HideUsage())

    def meter(self, events: bool) -> Meter:
        """Read an answer."""
        return StreamMeter(EventParser(), _Tally()) if events else BodyMeter(_read_body)

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """The key as a bearer token."""
        return bearer(api_key)

    def error(self, status: int, message: str) -> bytes:
        """Write an error body."""
        return error_body(status, message)

    def models(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Write a list of models."""
        return openai_answer.models(names)

    def count(self, tokens: int) -> Mapping[str, Any]:
        """Write a count of tokens, which nobody asks for by this API."""
        return {"input_tokens": tokens}

    def answer(self, request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
        """Write a scripted answer."""
        return openai_answer.body(request, answer)

    def answer_stream(self, request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
        """Write a scripted answer as chunks."""
        return openai_answer.chunks(request, answer)


def _content_text(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(text(part.get("text")) for part in mappings(content) if part.get("text"))


def _figures(told: Mapping[str, Any]) -> Figures:
    return openai_figures(told, "prompt_tokens", "completion_tokens")


def _read_body(body: Mapping[str, Any]) -> Reading:
    choices = mappings(body.get("choices"))
    messages = [mapping(choice.get("message")) for choice in choices]
    calls = [call for message in messages for call in mappings(message.get("tool_calls"))]
    reasons = [text(choice.get("finish_reason")) for choice in choices]
    read = _figures(mapping(body.get("usage")))
    return Reading(
        usage=read.usage,
        details=read.details,
        complete=read.complete,
        stop_reason=next(filter(None, reasons), None),
        tools=tuple(text(mapping(call.get("function")).get("name")) for call in calls),
        error=error_text(body),
        characters=sum(_length(message) for message in messages),
        tier=text(body.get("service_tier")) or None,
    )


def _length(message: Mapping[str, Any]) -> int:
    """Characters that the model wrote in a message or in a delta of one."""
    functions = (mapping(call.get("function")) for call in mappings(message.get("tool_calls")))
    said = sum(len(text(message.get(key))) for key in ("content", "reasoning_content", "refusal"))
    return said + sum(len(text(function.get("arguments"))) for function in functions)


_NOT_PLAIN = re.compile(r'"(?:finish_reason|usage)":(?! ?null)|"tool_calls"|"error"')


class _Tally:
    """Adds up the chunks; usage stands in the last one, or in each, cumulative."""

    def __init__(self) -> None:
        self._told: dict[str, Any] = {}
        self._stop_reason: str | None = None
        self._tools: list[str] = []
        self._error: str | None = None
        self.characters = 0
        self._tier: str | None = None

    @property
    def is_over(self) -> bool:
        return self._stop_reason is not None and _figures(self._told).complete

    def is_plain(self, data: str) -> bool:
        return _NOT_PLAIN.search(data) is None

    def add(self, item: Mapping[str, Any]) -> None:
        self._error = error_text(item) or self._error
        self._tier = text(item.get("service_tier")) or self._tier
        self._told.update(present(item.get("usage")))
        for choice in mappings(item.get("choices")):
            self._stop_reason = text(choice.get("finish_reason")) or self._stop_reason
            self._delta(mapping(choice.get("delta")))

    def _delta(self, delta: Mapping[str, Any]) -> None:
        self.characters += _length(delta)
        for call in mappings(delta.get("tool_calls")):
            name = text(mapping(call.get("function")).get("name"))
            self._tools.extend([name] if name else [])

    def reading(self) -> Reading:
        read = _figures(self._told)
        return Reading(
            usage=read.usage,
            details=read.details,
            complete=self.is_over and not self._error,
            stop_reason=self._stop_reason,
            tools=tuple(self._tools),
            error=self._error,
            characters=self.characters,
            tier=self._tier,
        )
