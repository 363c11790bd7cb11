"""Anthropic Messages: requests, answers, errors. Pure, standard library only.

Source: https://docs.anthropic.com/en/api/messages, messages-streaming and errors (2025-06).
``input_tokens`` are the uncached ones; cache reads and writes are counted beside them.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.api.usage import Usage, UsageDetails
from proctor.wire import anthropic_answer
from proctor.wire.fields import (
    BodyMeter,
    count,
    figures,
    is_count,
    mapping,
    mappings,
    messages_request,
    present,
    text,
    write_json,
)
from proctor.wire.format import Figures, Meter, ModelRequest, Outgoing, Reading
from proctor.wire.script import ScriptedAnswer
from proctor.wire.seen import Seen
from proctor.wire.sse import EventParser
from proctor.wire.stream_meter import StreamMeter

_ERROR_TYPES: Mapping[int, str] = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}


class AnthropicMessages:
    """The format ``anthropic-messages``."""

    name = "anthropic-messages"
    models_path = "/v1/models"
    # Claude Code asks five times more after a 400, each time with fewer features.
    refusal_status = 402

    def path(self, request: ModelRequest) -> str:
        """The same for all requests."""
        return "/v1/messages"

    def count_path(self, request: ModelRequest) -> str:
        """The same for all requests."""
        return "/v1/messages/count_tokens"

    def parse(self, body: bytes, target: str = "") -> ModelRequest:
        """Read a request; ``RequestError`` when it is none."""
        request = messages_request(body)
        messages = mappings(request["messages"])
        return ModelRequest(
            model=request["model"],
            texts=tuple(_content_text(message.get("content")) for message in messages),
            system=_content_text(request.get("system")),
            turn=1 + sum(message.get("role") == "assistant" for message in messages),
            tools=tuple(text(tool.get("name")) for tool in mappings(request.get("tools"))),
            stream=request.get("stream") is True,
        )

    def outgoing(self, body: bytes, request: ModelRequest) -> Outgoing:
        """The request as it is: every answer carries usage."""
        return Outgoing(body)

    def meter(self, events: bool) -> Meter:
        """Read an answer."""
        return StreamMeter(EventParser(), _Tally()) if events else BodyMeter(_read_body)

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """The key as ``x-api-key``."""
        return {} if api_key is None else {"x-api-key": api_key}

    def error(self, status: int, message: str) -> bytes:
        """Write an error body."""
        kind = _ERROR_TYPES.get(status, "api_error" if status >= 500 else "invalid_request_error")
        return write_json({"type": "error", "error": {"type": kind, "message": message}})

    def models(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Write a list of models."""
        return anthropic_answer.models(names)

    def count(self, tokens: int) -> Mapping[str, Any]:
        """Write a count of tokens."""
        return {"input_tokens": tokens}

    def answer(self, request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
        """Write a scripted answer."""
        return anthropic_answer.body(request, answer)

    def answer_stream(self, request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
        """Write a scripted answer as events."""
        return anthropic_answer.events(request, answer)


def _content_text(content: object) -> str:
    """Text of a message's or system's content: a string, or blocks, tool results included."""
    if isinstance(content, str):
        return content
    parts = (
        text(block.get("text")) or _content_text(block.get("content"))
        for block in mappings(content)
    )
    return "\n".join(part for part in parts if part)


def _figures(told: Mapping[str, Any]) -> Figures:
    hour = count(mapping(told.get("cache_creation")).get("ephemeral_1h_input_tokens"))
    output = mapping(told.get("output_tokens_details"))
    usage = Usage(
        input=count(told.get("input_tokens")),
        output=count(told.get("output_tokens")),
        cache_read=count(told.get("cache_read_input_tokens")),
        cache_write=count(told.get("cache_creation_input_tokens")),
    )
    details = UsageDetails(
        cache_write_1h=min(hour, usage.cache_write),
        reasoning=min(count(output.get("thinking_tokens")), usage.output),
    )
    return figures(usage, details, told.get("input_tokens"), told.get("output_tokens"))


def _tier(told: Mapping[str, Any]) -> str | None:
    """The tier that sets the price: the fast mode, or else the service tier."""
    if told.get("speed") == "fast":
        return "fast"
    return text(told.get("service_tier")) or None


def _read_body(body: Mapping[str, Any]) -> Reading:
    if body.get("type") == "error":
        return Reading(error=_error_text(body))
    blocks = mappings(body.get("content"))
    told = mapping(body.get("usage"))
    read = _figures(told)
    return Reading(
        usage=read.usage,
        details=read.details,
        complete=read.complete,
        stop_reason=text(body.get("stop_reason")) or None,
        tools=tuple(text(b.get("name")) for b in blocks if b.get("type") == "tool_use"),
        characters=sum(_length(block) for block in blocks),
        tier=_tier(told),
    )


def _length(block: Mapping[str, Any]) -> int:
    """Characters that the model wrote in a block or in a delta of one."""
    written = (block.get(key) for key in ("text", "thinking", "partial_json"))
    arguments = block.get("input")
    return sum(len(text(part)) for part in written) + (
        len(write_json(mapping(arguments)).decode()) if arguments else 0
    )


def _error_text(body: Mapping[str, Any]) -> str:
    error = mapping(body.get("error"))
    return f"{text(error.get('type')) or 'error'}: {text(error.get('message'))}"


_DELTA = ('{"type":"content_block_delta"', '{"type": "content_block_delta"')


class _Tally(Seen):
    """Adds up the events; the figures of ``message_delta`` are cumulative and win."""

    def __init__(self) -> None:
        super().__init__()
        self._is_told = False

    @property
    def is_over(self) -> bool:
        return self._is_told

    def is_plain(self, data: str) -> bool:
        return data.startswith(_DELTA)

    def add(self, item: Mapping[str, Any]) -> None:
        match item.get("type"):
            case "content_block_delta":
                delta = mapping(item.get("delta"))
                said = delta.get("text")
                self.characters += len(said) if type(said) is str else _length(delta)
            case "message_start":
                self.told.update(present(mapping(item.get("message")).get("usage")))
            case "content_block_start":
                self._start(mapping(item.get("content_block")))
            case "message_delta":
                self._end(mapping(item.get("delta")), present(item.get("usage")))
            case "error":
                self.error = _error_text(item)

    def _start(self, block: Mapping[str, Any]) -> None:
        self.characters += _length(block)
        if block.get("type") == "tool_use":
            self.tools.append(text(block.get("name")))

    def _end(self, delta: Mapping[str, Any], told: Mapping[str, Any]) -> None:
        """Take the final figures; the output in ``message_start`` is only where it began."""
        self.told.update(told)
        self.stop_reason = text(delta.get("stop_reason")) or self.stop_reason
        self._is_told = self.stop_reason is not None and is_count(told.get("output_tokens"))

    def reading(self) -> Reading:
        self.tier = _tier(self.told)
        return self.read(_figures(self.told), is_over=self._is_told)
