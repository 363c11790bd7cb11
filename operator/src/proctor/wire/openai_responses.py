"""OpenAI Responses: requests, answers, errors. Pure, standard library only.

Source: https://platform.openai.com/docs/api-reference/responses and responses-streaming (2026-11).
``input_tokens`` are all input tokens; those read from the cache or written to it are a part.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from proctor.wire import responses_answer
from proctor.wire.fields import BodyMeter, mapping, mappings, named_request, text
from proctor.wire.format import NO_FIGURES, Meter, ModelRequest, Outgoing, Reading, RequestError
from proctor.wire.openai_api import SYSTEM_ROLES, OpenAIApi, content_text, error_text
from proctor.wire.openai_figures import openai_figures
from proctor.wire.script import ScriptedAnswer
from proctor.wire.seen import Seen
from proctor.wire.sse import EventParser
from proctor.wire.stream_meter import StreamMeter

_ENDS = ("response.completed", "response.incomplete", "response.failed")
_DELTAS = (
    "response.output_text.delta",
    "response.reasoning_summary_text.delta",
    "response.reasoning_text.delta",
    "response.refusal.delta",
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
)
_CALLS = ("function_call", "custom_tool_call")
_WRITTEN = (*_CALLS, "reasoning", "local_shell_call")


class OpenAIResponses(OpenAIApi):
    """The format ``openai-responses``."""

    name = "openai-responses"

    def path(self, request: ModelRequest) -> str:
        """The same for all requests."""
        return "/responses"

    def count_path(self, request: ModelRequest) -> str:
        """The same for all requests."""
        return "/responses/input_tokens"

    def parse(self, body: bytes, target: str = "") -> ModelRequest:
        """Read a request; ``RequestError`` when it is none, or asks for what nobody would count."""
        request = named_request(body)
        if request.get("background") is True:
            raise RequestError("background: answers that come later are not served")
        given = request.get("input")
        items = [{"role": "user", "content": given}] if isinstance(given, str) else mappings(given)
        system = [item for item in items if item.get("role") in SYSTEM_ROLES]
        others = [i for i in items if i.get("role") not in SYSTEM_ROLES and not _is_written(i)]
        instructions = [text(request.get("instructions"))] if request.get("instructions") else []
        return ModelRequest(
            model=request["model"],
            texts=tuple(_item_text(item) for item in others),
            system="\n".join([*instructions, *(_item_text(item) for item in system)]),
            turn=1 + _turns(items),
            tools=tuple(text(t.get("name")) for t in mappings(request.get("tools"))),
            stream=request.get("stream") is True,
        )

    def outgoing(self, body: bytes, request: ModelRequest) -> Outgoing:
        """The request as it is: every answer carries usage."""
        return Outgoing(body)

    def meter(self, events: bool) -> Meter:
        """Read an answer."""
        return StreamMeter(EventParser(), _Tally()) if events else BodyMeter(_read_body)

    def count(self, tokens: int) -> Mapping[str, Any]:
        """Write a count of tokens."""
        return {"object": "response.input_tokens", "input_tokens": tokens}

    def answer(self, request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
        """Write a scripted answer."""
        return responses_answer.body(request, answer)

    def answer_stream(self, request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
        """Write a scripted answer as events."""
        return responses_answer.events(request, answer)


def _is_written(item: Mapping[str, Any]) -> bool:
    """Whether the model wrote an item of the input."""
    return item.get("role") == "assistant" or item.get("type") in _WRITTEN


def _turns(items: Sequence[Mapping[str, Any]]) -> int:
    """Answers of the model in the input: its items stand together until somebody else's come."""
    written = [False, *(_is_written(item) for item in items)]
    return sum(now and not before for before, now in pairwise(written))


def _item_text(item: Mapping[str, Any]) -> str:
    return content_text(item.get("content", item.get("output")))


def _read_body(body: Mapping[str, Any]) -> Reading:
    items = mappings(body.get("output"))
    read = openai_figures(mapping(body.get("usage")), "input_tokens", "output_tokens")
    reason = text(mapping(body.get("incomplete_details")).get("reason"))
    return Reading(
        usage=read.usage,
        details=read.details,
        complete=read.complete,
        stop_reason=reason or text(body.get("status")) or None,
        tools=tuple(text(item.get("name")) for item in items if item.get("type") in _CALLS),
        error=error_text(body),
        characters=sum(len(_item_text(item)) + len(text(item.get("arguments"))) for item in items),
        tier=text(body.get("service_tier")) or None,
    )


_DELTA = re.compile(r'\{"type": ?"response\.[a-z_.]+\.delta"')


class _Tally(Seen):
    """Adds up the events; the last one holds the whole response with its usage."""

    def __init__(self) -> None:
        super().__init__()
        self._end: Reading | None = None

    @property
    def is_over(self) -> bool:
        return self._end is not None

    def is_plain(self, data: str) -> bool:
        return _DELTA.match(data) is not None

    def add(self, item: Mapping[str, Any]) -> None:
        kind = item.get("type")
        if kind in _DELTAS:
            self.characters += len(text(item.get("delta")))
        elif kind in _ENDS:
            self._end = _read_body(mapping(item.get("response")))
        elif kind == "response.output_item.done":
            done = mapping(item.get("item"))
            self.tools.extend([text(done.get("name"))] if done.get("type") in _CALLS else [])
        elif kind == "error":
            self.error = error_text(item if item.get("error") else {"error": item})

    def reading(self) -> Reading:
        return self._end or self.read(NO_FIGURES, is_over=False)
