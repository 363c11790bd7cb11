"""The port to whoever answers model calls: a provider, or a script."""

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import Protocol

from proctor.api.usage import Usage
from proctor.gateway.account import Account
from proctor.gateway.providers import Provider
from proctor.wire.format import ModelRequest, Operation, WireFormat
from proctor.wire.script import Script

Headers = Sequence[tuple[str, str]]


@dataclass(slots=True)
class Way:
    """How far a call came.

    Args:
        sent: Whether the provider may be working on it, so that it may cost something.
    """

    sent: bool = False


@dataclass(frozen=True, slots=True)
class Forward:
    """A call on its way to whoever answers it.

    Args:
        headers: The client's, its key included; what is sent on is the upstream's decision.
        query: The client's query string without the question mark and without a key.
        provider: Who is asked in mode ``Live``.
        script: What answers in mode ``Scripted``.
        operation: What is asked for; a list of models has no request.
        listed: The one model that a list is asked for; empty: all.
        account: Whose call it is: where it is recorded, or what it is replayed from.
        trial: Whose call it is: trials take turns at a provider that is asked too fast.
        reserved: What it is taken for until its figures are known.
        way: How far it came; the upstream says so.
    """

    wire_format: WireFormat
    request: ModelRequest
    body: bytes
    headers: Headers = ()
    query: str = ""
    provider: Provider | None = None
    script: Script | None = None
    operation: Operation = "generate"
    listed: str = ""
    account: Account | None = None
    trial: str = ""
    reserved: Usage = field(default_factory=Usage)
    way: Way = field(default_factory=Way, compare=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as it comes.

    Args:
        headers: Those that the client gets; hop-by-hop ones are gone.
        body: Chunks as they arrive; raises ``CutError`` when the answer breaks off.
        miss: Why a cassette has no answer, for the ledger only; None: it has one.
    """

    status: int
    headers: Headers
    body: AsyncIterator[bytes]
    miss: str | None = None

    def header(self, name: str) -> str:
        """A header by its name in lower case; empty when it is missing."""
        return next((value for key, value in self.headers if key.lower() == name), "")

    @property
    def is_stream(self) -> bool:
        """Whether the body is a stream of events."""
        return self.header("content-type").startswith("text/event-stream")


class UnansweredError(Exception):
    """Nobody answered. ``sent``: the request may have been worked on, and paid for."""

    def __init__(self, message: str, *, sent: bool) -> None:
        super().__init__(message)
        self.sent = sent


class CutError(Exception):
    """An answer broke off."""


class Upstream(Protocol):
    """Whoever answers."""

    def answer(self, forward: Forward) -> AbstractAsyncContextManager[Answer]:
        """Ask, and hold the answer open; leaving the context ends it.

        Raises:
            UnansweredError: When there is no answer.
        """
