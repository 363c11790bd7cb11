"""What a cassette holds: model calls as they were asked and answered. Pure.

A cassette is recorded from a live run and answers the same calls again without a model. It holds
of a request what matters for its answer (model, system, messages, tools) and of an answer its
JSON or its events; no header, no key.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor.gateway.seat import Role
from proctor.wire.fields import json_object
from proctor.wire.format import ModelRequest, Operation

VERSION = 1

_SHAPES: Mapping[str, tuple[str, ...]] = {
    "anthropic-messages": ("system", "tools", "messages"),
    "openai-chat": ("tools", "functions", "messages"),
    "openai-responses": ("instructions", "tools", "previous_response_id", "input"),
    "gemini": (
        "systemInstruction",
        "system_instruction",
        "tools",
        "generateContentRequest",
        "contents",
    ),
}
_MESSAGES = ("messages", "input", "contents")
"""Names of the list that a conversation grows by."""


@dataclass(frozen=True, slots=True)
class AskedCall:
    """What was asked.

    Args:
        body: What matters of the request, under the API's own names, ``model`` first.
    """

    wire_format: str
    operation: Operation
    body: Mapping[str, Any]

    @property
    def list_name(self) -> str | None:
        """Under which name the messages stand; None: there is no list of them."""
        return next((name for name in _MESSAGES if isinstance(self.body.get(name), list)), None)

    @property
    def messages(self) -> list[Any]:
        """The messages, oldest first; empty when there is no list of them."""
        name = self.list_name
        return [] if name is None else self.body[name]

    @property
    def head(self) -> dict[str, Any]:
        """Everything but the messages."""
        return {name: value for name, value in self.body.items() if name != self.list_name}


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """What was answered; exactly one of ``body``, ``events`` and ``text`` is set.

    Args:
        body: JSON.
        events: The data of a stream's events, JSON or text such as ``[DONE]``; pieces of one text
            are joined.
        text: An answer that is no JSON.
    """

    status: int = 200
    body: Any = None
    events: tuple[Any, ...] | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class RecordedCall:
    """One call of a cassette.

    Args:
        number: From 1, in the order of their ends.
        trial: ``task/variant/repeat``; empty: not known.
        role: Whose key was used.
    """

    number: int
    trial: str
    role: Role
    attempt: int
    asked: AskedCall
    answered: AnsweredCall


@dataclass(frozen=True, slots=True)
class Cassette:
    """Recorded calls, in order."""

    calls: tuple[RecordedCall, ...] = ()

    def of_last_attempts(self) -> "Cassette":
        """Without the calls of attempts that others replaced: their trial was run again."""
        last: dict[str, int] = {}
        for call in self.calls:
            last[call.trial] = max(call.attempt, last.get(call.trial, 0))
        return Cassette(tuple(c for c in self.calls if not c.trial or c.attempt == last[c.trial]))

    def models(self) -> tuple[str, ...]:
        """Models that were asked, in order, without repetition."""
        names = (str(call.asked.body.get("model", "")) for call in self.calls)
        return tuple(dict.fromkeys(name for name in names if name))


def what_matters(
    wire_format: str, operation: Operation, request: ModelRequest, body: bytes, listed: str = ""
) -> AskedCall:
    """The part of a request that decides its answer."""
    if operation == "list":
        return AskedCall(wire_format, operation, {"listed": listed} if listed else {})
    sent = json_object(body) or {}
    names = _SHAPES.get(wire_format, _MESSAGES)
    kept = {name: sent[name] for name in names if sent.get(name) is not None}
    return AskedCall(wire_format, operation, {"model": request.model, **kept})
