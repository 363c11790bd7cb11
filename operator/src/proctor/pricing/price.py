"""What one call costs, and why. Pure, standard library only."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class Price:
    """What usage costs.

    Args:
        usd: US dollars.
        model: The name under which the price stands.
        source: Page or list that it was read from.
        date: The day when it was read or checked; None when the source does not tell.
    """

    usd: Decimal
    model: str
    source: str
    date: date | None
