"""Rates and cost arithmetic in ``Decimal``; pure. An unknown price is None, never 0."""

from proctor.pricing.overlay import OVERLAY, Overlay, PriceConflictError
from proctor.pricing.price import Price
from proctor.pricing.prices import Prices, cost_usd, is_priced
from proctor.pricing.rate import Rate

__all__ = [
    "OVERLAY",
    "Overlay",
    "Price",
    "PriceConflictError",
    "Prices",
    "Rate",
    "cost_usd",
    "is_priced",
]
