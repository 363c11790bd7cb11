"""What the loop needs of a model API, whichever it is. Standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.api.usage import Usage

Message = Mapping[str, Any]


class ReplyError(ValueError):
    """What came back is no answer of this API."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool that is offered. ``parameters`` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call that the model asks for. ``problem``: why its parameters cannot be read."""

    id: str
    name: str
    parameters: Mapping[str, Any]
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool said, for the model."""

    call: str
    text: str
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Question:
    """One model call."""

    model: str
    system: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    max_output_tokens: int


@dataclass(frozen=True, slots=True)
class Reply:
    """The model's answer.

    Args:
        message: As it goes back into the history.
        calls: Tool calls, in order; none: the answer is complete.
        usage: None when the answer has no figures.
    """

    message: Message
    text: str
    thinking: str
    calls: tuple[ToolCall, ...]
    stop_reason: str | None
    usage: Usage | None


class Dialect(Protocol):
    """One model API, seen from the client."""

    path: str

    def headers(self, key: str) -> Mapping[str, str]:
        """How the key goes out."""

    def body(self, question: Question) -> Mapping[str, Any]:
        """The request."""

    def reply(self, body: Mapping[str, Any]) -> Reply:
        """Read an answer; ``ReplyError`` when it is none."""

    def user(self, text: str) -> Message:
        """A user message for the history."""

    def results(self, results: Sequence[ToolResult]) -> Sequence[Message]:
        """Tool results for the history."""
