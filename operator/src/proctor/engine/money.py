"""What the attempts of a trial cost together (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from proctor.api.usage import SPENDING_MODES, Bill, Usage


@dataclass(frozen=True, slots=True)
class Money:
    """Money and tokens of a trial.

    Args:
        cost_usd: Spent; None: of no attempt is it known.
        scripted_cost_usd: What scripted or replayed answers would have cost; None: there were none.
        complete: False: the cost is a floor.
    """

    cost_usd: Decimal | None
    scripted_cost_usd: Decimal | None
    complete: bool
    usage: Usage
    calls: int


def total_money(bills: Sequence[Bill | None]) -> Money:
    """Add up attempts; a bill that is None is a cost that nobody knows."""
    known = [bill for bill in bills if bill is not None]
    live = [bill.cost_usd for bill in known if bill.mode in SPENDING_MODES]
    scripted = [bill.cost_usd for bill in known if bill.mode not in SPENDING_MODES]
    unknown = len(known) < len(bills)
    return Money(
        cost_usd=_total(live, unknown),
        scripted_cost_usd=_total(scripted, True) if scripted else None,
        complete=not unknown and None not in live and all(bill.cost_complete for bill in known),
        usage=sum((bill.usage for bill in known), Usage()),
        calls=sum(bill.calls for bill in known),
    )


def _total(amounts: Sequence[Decimal | None], unknown: bool) -> Decimal | None:
    """Sum of the known amounts; nothing at all is 0 only when nothing is unknown."""
    known = [amount for amount in amounts if amount is not None]
    if known:
        return sum(known, Decimal(0))
    return None if unknown or amounts else Decimal(0)
