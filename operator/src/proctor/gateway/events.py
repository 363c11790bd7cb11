"""What happens to an account, as facts; one JSON object a line in a ledger file.

Facts hold times, models, figures and names, never bodies or keys.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

import msgspec

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails
from proctor.pricing import Price


class _Fact(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag_field="fact", tag=True
):
    trial_uid: str
    attempt: int
    at: datetime
    run_uid: str = ""

    @property
    def run(self) -> str:
        """Whose ledger it belongs to: the run's, or the trial's own when it has no run."""
        return self.run_uid or self.trial_uid


class CallOpened(_Fact, frozen=True, kw_only=True):
    """A call goes to the model. ``call`` is unique in all ledgers.

    Args:
        role: ``agent`` or ``judge``.
        reserved: What it is taken for until it is settled.
        reserved_usd: The same in US dollars; None: the model has no price.
    """

    call: str
    mode: str
    model: str
    provider: str
    wire_format: str
    role: str = "agent"
    reserved: Usage = Usage()
    reserved_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class PriceNote:
    """Under which name a price stands, where, and the day it was read: ``2026-01-31`` or None."""

    model: str
    source: str
    date: str | None

    @classmethod
    def of(cls, price: Price) -> "PriceNote":
        """What the ledger keeps of a price."""
        day = None if price.date is None else price.date.isoformat()
        return cls(price.model, price.source, day)


@dataclass(frozen=True, slots=True)
class Digests:
    """SHA-256 in hexadecimal.

    Args:
        request: Of the body that was sent on.
        response: Of as much of the answer's body as came; None: there was no answer.
    """

    request: str
    response: str | None


class CallEnded(_Fact, frozen=True, kw_only=True):
    """A call is over.

    Args:
        status: HTTP status of the answer; None: there was none.
        usage: None when no figure was seen.
        details: Parts of ``usage``.
        cost_usd: None when there is no figure or no price.
        price: Where the price of ``cost_usd`` stands.
        complete: Whether no more was spent than the figures say.
        estimated: Whether ``usage`` is not the provider's figure: then it is never complete.
        lost: Whether the gateway was stopped while the call was open.
        provider_failure: What went wrong at the provider, when that ended the call.
        stop_reason: In the provider's words.
        tools: Names of the tools that the model asked for.
        digests: Of request and answer; None: not known.
        miss: Why a cassette had no answer, and what is nearest to the request.
    """

    call: str
    status: int | None
    usage: Usage | None = None
    details: UsageDetails = NO_DETAILS
    cost_usd: Decimal | None = None
    price: PriceNote | None = None
    complete: bool = False
    estimated: bool = False
    lost: bool = False
    provider_failure: str | None = None
    stop_reason: str | None = None
    tools: tuple[str, ...] = ()
    digests: Digests | None = None
    miss: str | None = None

    @property
    def reached_model(self) -> bool:
        """Whether the model answered, began to, or refused.

        False when the provider failed it, and when its client went before it was sent.
        """
        if self.status is None and self.complete:
            return False
        unanswered = self.status is None or self.status >= 400
        return not (unanswered and self.provider_failure)


class CallRefused(_Fact, frozen=True, kw_only=True):
    """The gateway refused a call of the agent.

    Args:
        limit: ``maxModelCalls``, ``maxTotalTokens``, ``maxUsd`` or ``budget``, which is the run's;
            None: for another reason.
    """

    mode: str
    model: str
    limit: str | None
    reason: str


class AccountClosed(_Fact, frozen=True, kw_only=True):
    """No further call of the agent is served."""


Fact = CallOpened | CallEnded | CallRefused | AccountClosed

_TO_JSON = msgspec.json.Encoder()
_FROM_JSON = msgspec.json.Decoder(Fact)


def to_line(fact: Fact) -> bytes:
    """Write a fact as a JSON object with its type as ``fact``; a field at its default is left out.

    Half a surrogate pair, which a model's name or a provider's words can hold, becomes a question
    mark: no ledger line is lost for it.
    """
    try:
        return _TO_JSON.encode(fact)
    except UnicodeEncodeError:
        return _TO_JSON.encode(msgspec.structs.replace(fact, **_printable(fact)))


def _printable(fact: Fact) -> dict[str, Any]:
    """Its texts as UTF-8 can write them, by name."""
    values = msgspec.structs.asdict(fact)
    texts = {name: _as_utf8(value) for name, value in values.items() if isinstance(value, str)}
    lists = {
        name: tuple(map(_as_utf8, value))
        for name, value in values.items()
        if isinstance(value, tuple)
    }
    return texts | lists


def _as_utf8(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def from_line(line: bytes) -> Fact:
    """Read what ``to_line`` wrote; unknown keys are ignored.

    Raises:
        ValueError: When it is not a fact.
    """
    return _FROM_JSON.decode(line)
