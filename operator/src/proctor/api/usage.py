"""Tokens and money, as the gateway counted them. Standard library only."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens by kind; the kinds do not overlap, so prices add up.

    Args:
        input: Uncached input tokens.
        output: Output tokens, reasoning included.
        cache_read: Input tokens read from the provider's cache.
        cache_write: Input tokens written to the provider's cache.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0

    @property
    def total(self) -> int:
        """All tokens of all kinds."""
        return self.input + self.output + self.cache_read + self.cache_write

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
        )


@dataclass(frozen=True, slots=True)
class UsageDetails:
    """Parts of a ``Usage`` that have a price or a meaning of their own. They overlap it.

    A provider that does not report a part leaves it 0.

    Args:
        cache_write_1h: Those cache writes that are kept for an hour.
        reasoning: Output tokens that the model thought with.
        input_audio: Input tokens of sound, cached ones included; the others likewise.
        cached_audio: Those of ``input_audio`` that were read from the cache.
    """

    cache_write_1h: int = 0
    reasoning: int = 0
    input_image: int = 0
    input_audio: int = 0
    cached_audio: int = 0
    output_image: int = 0
    output_audio: int = 0

    def known(self) -> dict[str, int]:
        """Those that are not 0, by name."""
        return {name: value for name in self.__slots__ if (value := getattr(self, name))}


NO_DETAILS = UsageDetails()
"""No part was reported."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What one attempt used, from the gateway's ledger.

    Args:
        calls: Model calls that reached the model or were refused by it.
        usage: Sum over all calls with usage figures.
        cost_usd: US dollars; None when a call had no price: unknown is not free.
        cost_complete: False when a call was cut short or had no price, so that the cost is a
            floor or unknown.
        mode: ``Live``, ``Record``, ``Replay`` or ``Scripted``; replayed and scripted money is shown
            and never counted as spent.
        refused: Why the gateway last refused a call of the agent (``maxModelCalls``,
            ``maxTotalTokens``, ``maxUsd``, ``RUN_BUDGET``); None when it refused none.
        provider_error: Set when what the agent saw last was a failure of the provider, with
            what it answered.
        judge_calls: Calls of judges and simulated users; none of the figures above has them in it.
    """

    calls: int = 0
    usage: Usage = Usage()
    cost_usd: Decimal | None = Decimal(0)
    cost_complete: bool = True
    mode: str = "Live"
    refused: str | None = None
    provider_error: str | None = None
    judge_calls: int = 0
    judge_usage: Usage = Usage()
    judge_cost_usd: Decimal | None = Decimal(0)

    def to_json(self) -> dict[str, Any]:
        """Write it with costs as decimal strings or null."""
        costs = {name: _text(getattr(self, name)) for name in ("cost_usd", "judge_cost_usd")}
        return {**asdict(self), **costs}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote; unknown keys are ignored."""
        return cls(
            calls=int(body["calls"]),
            usage=_usage(body["usage"]),
            cost_usd=_money(body.get("cost_usd")),
            cost_complete=bool(body["cost_complete"]),
            mode=str(body["mode"]),
            refused=body.get("refused"),
            provider_error=body.get("provider_error"),
            judge_calls=int(body.get("judge_calls", 0)),
            judge_usage=_usage(body.get("judge_usage", {})),
            judge_cost_usd=_money(body.get("judge_cost_usd", "0")),
        )


@dataclass(frozen=True, slots=True)
class RunSpending:
    """What a run used so far: agents and judges, attempts that were lost included.

    Args:
        calls: Those that are over and reached their model.
        open_calls: Those in flight, scripted ones not counted.
        cost_usd: US dollars that were spent; calls in flight are not in it.
        scripted_cost_usd: What scripted or replayed answers would have cost.
        cost_complete: False: more may have been spent than is known.
    """

    calls: int = 0
    open_calls: int = 0
    usage: Usage = Usage()
    cost_usd: Decimal = Decimal(0)
    scripted_cost_usd: Decimal = Decimal(0)
    cost_complete: bool = True

    def to_json(self) -> dict[str, Any]:
        """Write it with costs as decimal strings."""
        costs = {name: _text(getattr(self, name)) for name in ("cost_usd", "scripted_cost_usd")}
        return {**asdict(self), **costs}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote; unknown keys are ignored."""
        return cls(
            calls=int(body["calls"]),
            open_calls=int(body["open_calls"]),
            usage=_usage(body["usage"]),
            cost_usd=Decimal(body["cost_usd"]),
            scripted_cost_usd=Decimal(body["scripted_cost_usd"]),
            cost_complete=bool(body["cost_complete"]),
        )


SPENDING_MODES = frozenset({"Live", "Record"})
"""Values of ``Bill.mode`` whose money was spent; that of ``Scripted`` and ``Replay`` is shown."""

RUN_BUDGET = "budget"
"""``Bill.refused`` when the budget of the whole run was used up."""


def _usage(body: Mapping[str, Any]) -> Usage:
    return Usage(**{kind: int(body.get(kind, 0)) for kind in Usage.__slots__})


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def _money(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
