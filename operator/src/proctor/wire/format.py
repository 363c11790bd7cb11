"""What the gateway needs of a model API, whichever it is. Pure, standard library only.

A ``WireFormat`` reads requests and answers of one API and writes its errors and scripted
answers. It never sends anything: bytes come in, values and bytes go out. Called by the gateway.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails
from proctor.wire.script import ScriptedAnswer

Operation = Literal["generate", "count", "list"]
"""What a client asks for: an answer, a count of tokens, the list of models."""


class RequestError(ValueError):
    """A request body is not one of this API; the message says what is wrong with it."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The parts of a request that routing, limits and scripts look at.

    Args:
        texts: One per message that is not of the system, in order; tool results included.
        system: All system text, joined by newlines; empty when there is none.
        turn: Assistant messages in the request + 1.
        tools: Names of the tools offered.
        stream: Whether the answer is asked for in pieces.
        usage_in_stream: Whether a stream is to carry usage figures.
        in_array: Whether a stream is one JSON array instead of events.
    """

    model: str
    texts: tuple[str, ...] = ()
    system: str = ""
    turn: int = 1
    tools: tuple[str, ...] = ()
    stream: bool = False
    usage_in_stream: bool = True
    in_array: bool = False

    @property
    def characters(self) -> int:
        """Length of all its text."""
        return len(self.system) + sum(len(text) for text in self.texts)


@dataclass(frozen=True, slots=True)
class Figures:
    """What a provider's usage figures say.

    Args:
        usage: None when they tell neither input nor output: unmeasured, not zero.
        details: Parts of ``usage`` with a price or meaning of their own.
        complete: Whether they tell both.
    """

    usage: Usage | None = None
    details: UsageDetails = NO_DETAILS
    complete: bool = False


NO_FIGURES = Figures()
"""Nothing was told."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer said of itself, as far as it was read.

    Args:
        usage: None when no figure was seen: unmeasured, not zero.
        details: Parts of ``usage`` with a price or meaning of their own.
        complete: Whether ``usage`` is the final figure; False for an answer that was cut.
        estimated: Whether ``usage`` was made up from what was seen, by ``estimate``.
        stop_reason: In the provider's words.
        tools: Names of the tools that the model asked for, in order.
        error: What the provider said when the answer broke off with an error.
        characters: Length of text, thoughts and arguments of tools that were seen.
        tier: Service tier that the provider worked in, in its own words.
    """

    usage: Usage | None = None
    details: UsageDetails = NO_DETAILS
    complete: bool = False
    estimated: bool = False
    stop_reason: str | None = None
    tools: tuple[str, ...] = ()
    error: str | None = None
    characters: int = 0
    tier: str | None = None


class Meter(Protocol):
    """Reads an answer while it passes by; any chunking, bounded memory, never raises."""

    @property
    def is_over(self) -> bool:
        """Whether a client can know by now that a stream is over."""

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes of the body."""

    def reading(self) -> Reading:
        """What was read so far."""


class Relay(Protocol):
    """Changes an event stream on its way to the client, if it has to be changed at all."""

    def feed(self, chunk: bytes) -> bytes:
        """Take the next bytes and give those to send on; may be empty."""

    def end(self) -> bytes:
        """What is still held back when the stream ends."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it goes to the provider.

    Args:
        relay: For the event stream that answers it; None: it passes through unchanged.
    """

    body: bytes
    relay: Relay | None = None


class WireFormat(Protocol):
    """One model API."""

    name: str
    """Such as ``anthropic-messages``; used in configuration and ledger."""
    models_path: str
    """Path of the list of models below the base URL, as the provider's own SDK takes it."""

    refusal_status: int
    """HTTP status of a call that a limit forbids; the API's clients do not ask again after it."""

    def parse(self, body: bytes, target: str = "") -> ModelRequest:
        """Read a request.

        Args:
            body: JSON.
            target: What the URL says of it: ``MODEL:METHOD`` with its query; only Gemini's does.

        Raises:
            RequestError: When it is none; the message is meant for the client.
        """

    def path(self, request: ModelRequest) -> str:
        """Path at the provider, below the base URL."""

    def count_path(self, request: ModelRequest) -> str | None:
        """Path where tokens are counted, likewise; None: this API counts none."""

    def outgoing(self, body: bytes, request: ModelRequest) -> Outgoing:
        """Make ready what is sent to the provider, so that usage can be read from its answer."""

    def meter(self, events: bool) -> Meter:
        """Read an answer, an event stream or JSON."""

    def headers(self, api_key: str | None) -> Mapping[str, str]:
        """How the provider takes its key; empty without one."""

    def error(self, status: int, message: str) -> bytes:
        """Write an error body of this API for an HTTP status."""

    def models(self, names: Sequence[str]) -> Mapping[str, Any]:
        """Write a list of models."""

    def count(self, tokens: int) -> Mapping[str, Any]:
        """Write a count of tokens."""

    def answer(self, request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
        """Write a scripted answer as this API's JSON body."""

    def answer_stream(self, request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
        """Write a scripted answer as this API streams it, piece by piece."""
