"""Scores and ratios in [0, 1] as they are kept and shown: cut off, never rounded up.

So 1 means all of it, and what is shown never reaches a threshold that the value missed. Standard
library only.
"""

from decimal import ROUND_DOWN, Decimal

DIGITS = 6
"""What statuses and records keep."""


def exact(number: float) -> Decimal:
    """The decimal that a float stands for: what sums of floats are off by is not in it."""
    return Decimal(f"{number:.12f}")


def cut(value: Decimal, digits: int = DIGITS) -> Decimal:
    """Cut off what is behind so many digits."""
    return value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_DOWN)


def ratio_text(value: Decimal) -> str:
    """Write it with at most six digits, without exponent and trailing zeros."""
    return f"{cut(value):f}".rstrip("0").rstrip(".")
