"""Amounts as Kubernetes writes them."""

from decimal import Decimal
from typing import Annotated

from pydantic import StringConstraints

Quantity = Annotated[
    str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$", max_length=20)
]
"""Such as ``500m`` or ``1.5Gi``."""

_FACTORS = {
    "": Decimal(1),
    "m": Decimal("0.001"),
    "k": Decimal(10**3),
    "M": Decimal(10**6),
    "G": Decimal(10**9),
    "Ki": Decimal(2**10),
    "Mi": Decimal(2**20),
    "Gi": Decimal(2**30),
}


def amount(quantity: str) -> Decimal:
    """The number that a quantity stands for."""
    number, unit = _split(quantity)
    return number * _FACTORS[unit]


def doubled(quantity: str) -> str:
    """Twice as much."""
    number, unit = _split(quantity)
    return f"{number * 2}{unit}"


def larger(first: str | None, second: str | None) -> str | None:
    """The larger one as it was written; None when there is neither."""
    given = [quantity for quantity in (first, second) if quantity is not None]
    return max(given, key=amount, default=None)


def _split(quantity: str) -> tuple[Decimal, str]:
    number = quantity.rstrip("mkKMGi")
    return Decimal(number), quantity.removeprefix(number)
