"""What happens to an account, as facts; one JSON object a line in a ledger file.

Facts hold times, models, figures and names, never bodies or keys.
"""

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field, fields
from datetime import datetime
from decimal import Decimal
from json.encoder import encode_basestring_ascii
from operator import attrgetter
from typing import Any

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails
from proctor.pricing import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fact:
    trial_uid: str
    attempt: int
    at: datetime
    run_uid: str = ""

    @property
    def run(self) -> str:
        """Whose ledger it belongs to: the run's, or the trial's own when it has no run."""
        return self.run_uid or self.trial_uid


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOpened(_Fact):
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
    reserved: Usage = field(default_factory=Usage)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CallEnded(_Fact):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRefused(_Fact):
    """The gateway refused a call of the agent.

    Args:
        limit: ``maxModelCalls``, ``maxTotalTokens``, ``maxUsd`` or ``budget``, which is the run's;
            None: for another reason.
    """

    mode: str
    model: str
    limit: str | None
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountClosed(_Fact):
    """No further call of the agent is served."""


Fact = CallOpened | CallEnded | CallRefused | AccountClosed

_TYPES: Mapping[str, type[Fact]] = {
    kind.__name__: kind for kind in (CallOpened, CallEnded, CallRefused, AccountClosed)
}


_MONEY = ("cost_usd", "reserved_usd")
_USAGE = ("usage", "reserved")
_WRITE = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


def to_line(fact: Fact) -> str:
    """Write a fact as a JSON object with its type as ``fact``; a field at its default is left out.

    A call waits for two of them, so nothing is built but the text.
    """
    kind = type(fact)
    parts = [_HEADS[kind]]
    for name, key, default in _FIELDS[kind]:
        value = getattr(fact, name)
        if value is not default:
            parts += (key, _WRITERS.get(type(value), _WRITE)(value))
    parts.append("}")
    return "".join(parts)


def _numbers(kind: type[Usage]) -> Callable[[Any], str]:
    """Writes an object of whole numbers."""
    names = [one.name for one in fields(kind)]
    form = "{" + ",".join(f'"{name}":%d' for name in names) + "}"
    values = attrgetter(*names)
    return lambda value: form % values(value)


def _texts(kind: type[PriceNote | Digests]) -> Callable[[Any], str]:
    """Writes an object of texts, any of which may be None."""
    names = [one.name for one in fields(kind)]
    form = "{" + ",".join(f'"{name}":%s' for name in names) + "}"
    values = attrgetter(*names)
    return lambda value: form % tuple(map(_text, values(value)))


def _text(value: str | None) -> str:
    return "null" if value is None else encode_basestring_ascii(value)


_HEADS: Mapping[type, str] = {kind: f'{{"fact":"{name}"' for name, kind in _TYPES.items()}
_FIELDS: Mapping[type, tuple[tuple[str, str, Any], ...]] = {
    kind: tuple((one.name, f',"{one.name}":', one.default) for one in fields(kind))
    for kind in _TYPES.values()
}
_WRITERS: Mapping[type, Callable[[Any], str]] = {
    str: encode_basestring_ascii,
    int: str,
    bool: {True: "true", False: "false"}.__getitem__,
    datetime: lambda value: f'"{value.isoformat()}"',
    Decimal: lambda value: f'"{value:f}"',
    Usage: _numbers(Usage),
    UsageDetails: lambda value: _WRITE(value.known()),
    PriceNote: _texts(PriceNote),
    Digests: _texts(Digests),
}


ONLY_IN_ENTRIES = frozenset({"details", "price", "digests"})
"""What no sum needs: a run's whole ledger is read faster without it."""


def from_json(body: Mapping[str, Any], without: Set[str] = frozenset()) -> Fact:
    """Read what ``to_line`` wrote; unknown keys, and those in ``without``, are ignored.

    Raises:
        KeyError, TypeError, ValueError: When it is not a fact.
    """
    kind = _TYPES[body["fact"]]
    names = (name for name, _, _ in _FIELDS[kind])
    known = {name: body[name] for name in names if name in body and name not in without}
    known["at"] = datetime.fromisoformat(body["at"])
    for name in _USAGE:
        if known.get(name) is not None:
            known[name] = Usage(**known[name])
    for name in _MONEY:
        if known.get(name) is not None:
            known[name] = Decimal(known[name])
    if "details" in known:
        known["details"] = UsageDetails(**known["details"])
    if known.get("price") is not None:
        known["price"] = PriceNote(**known["price"])
    if known.get("digests") is not None:
        known["digests"] = Digests(**known["digests"])
    if "tools" in known:
        known["tools"] = tuple(known["tools"])
    return kind(**known)
