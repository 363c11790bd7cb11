"""OpenAI Chat Completions: requests, answers, errors. Pure, standard library only.

Source: https://platform.openai.com/docs/api-reference/chat and error codes (2025-06).
``prompt_tokens`` are all input tokens; those read from the cache or written to it are a part.
"""

import json
import re
from collections.abc import Iterator, Mapping
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
from proctor.wire.openai_api import SYSTEM_ROLES, OpenAIApi, content_text, error_text
from proctor.wire.openai_figures import openai_figures
from proctor.wire.openai_usage import HideUsage
from proctor.wire.script import ScriptedAnswer
from proctor.wire.seen import Seen
from proctor.wire.sse import EventParser
from proctor.wire.stream_meter import StreamMeter


class OpenAIChat(OpenAIApi):
    """The format ``openai-chat``."""

    name = "openai-chat"

    def path(self, request: ModelRequest) -> str:
        """The same for all requests."""
        return "/chat/completions"

    def count_path(self, request: ModelRequest) -> None:
        """This API counts no tokens."""

    def parse(self, body: bytes, target: str = "") -> ModelRequest:
        """Read a request; ``RequestError`` when it is none."""
        request = messages_request(body)
        messages = mappings(request["messages"])
        system = [m for m in messages if m.get("role") in SYSTEM_ROLES]
        others = [m for m in messages if m.get("role") not in SYSTEM_ROLES]
        options = mapping(request.get("stream_options"))
        functions = (mapping(tool.get("function")) for tool in mappings(request.get("tools")))
        return ModelRequest(
            model=request["model"],
            texts=tuple(content_text(message.get("content")) for message in others),
            system="\n".join(content_text(message.get("content")) for message in system),
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

    def count(self, tokens: int) -> Mapping[str, Any]:
        """Write a count of tokens, which nobody asks for by this API."""
        return {"input_tokens": tokens}

    def answer(self, request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
        """Write a scripted answer."""
        return openai_answer.body(request, answer)

    def answer_stream(self, request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
        """Write a scripted answer as chunks."""
        return openai_answer.chunks(request, answer)


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


class _Tally(Seen):
    """Adds up the chunks; usage stands in the last one, or in each, cumulative."""

    @property
    def is_over(self) -> bool:
        return self.stop_reason is not None and _figures(self.told).complete

    def is_plain(self, data: str) -> bool:
        return _NOT_PLAIN.search(data) is None

    def add(self, item: Mapping[str, Any]) -> None:
        self.error = error_text(item) or self.error
        self.tier = text(item.get("service_tier")) or self.tier
        self.told.update(present(item.get("usage")))
        for choice in mappings(item.get("choices")):
            self.stop_reason = text(choice.get("finish_reason")) or self.stop_reason
            self._delta(mapping(choice.get("delta")))

    def _delta(self, delta: Mapping[str, Any]) -> None:
        self.characters += _length(delta)
        for call in mappings(delta.get("tool_calls")):
            name = text(mapping(call.get("function")).get("name"))
            self.tools.extend([name] if name else [])

    def reading(self) -> Reading:
        return self.read(_figures(self.told), is_over=self.is_over)
