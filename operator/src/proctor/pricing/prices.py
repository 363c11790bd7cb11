"""What model calls cost: overlay first, then the catalog; an unknown price is None, never 0.

Called by the gateway for every call, and by whoever refuses a money limit without a price.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails
from proctor.pricing.catalog import catalog_entry, catalog_price
from proctor.pricing.overlay import OVERLAY, Overlay
from proctor.pricing.price import Price
from proctor.pricing.rate import Rate


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices of models.

    Args:
        overlay: Wins over the catalog.
        deployments: Names that a provider's owner gave, such as Azure's, to what they stand for.
    """

    overlay: Overlay = OVERLAY
    deployments: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, rates: Mapping[str, Rate]) -> "Prices":
        """Prices with an overlay of these rates."""
        return cls(OVERLAY.adding("rates", rates.items()))

    def price(
        self,
        usage: Usage,
        model: str,
        details: UsageDetails = NO_DETAILS,
        *,
        at: datetime | None = None,
        tier: str | None = None,
    ) -> Price | None:
        """Price ``usage``; None when ``model`` has no price: unknown is not free.

        Args:
            usage: Of one call: rates may depend on the length of its context.
            model: As the client named it.
            details: Parts of ``usage`` that may have a price of their own.
            at: When the call was made; None: now.
            tier: The service tier that the provider says it worked in.
        """
        model = self.deployments.get(model, model)
        found = self.overlay.find(model)
        if found is None:
            return catalog_price(usage, model, details, at=at, tier=tier)
        name, rate = found
        return Price(rate.cost_usd(usage, details), name, rate.source, rate.date)

    def cost_usd(
        self,
        usage: Usage,
        model: str,
        details: UsageDetails = NO_DETAILS,
        *,
        at: datetime | None = None,
        tier: str | None = None,
    ) -> Decimal | None:
        """The same in US dollars only."""
        price = self.price(usage, model, details, at=at, tier=tier)
        return None if price is None else price.usd

    def is_priced(self, model: str) -> bool:
        """Whether calls of ``model`` have a price."""
        return self.name(model) is not None

    def name(self, model: str) -> str | None:
        """The one name of a priced model, so that labels stay few; None: it has no price."""
        model = self.deployments.get(model, model)
        found = self.overlay.find(model)
        if found is not None:
            return found[0]
        entry = catalog_entry(model)
        return None if entry is None else entry.name


_PRICES = Prices()


def cost_usd(usage: Usage, model: str) -> Decimal | None:
    """Price ``usage`` with the prices that come with Proctor; None: no price."""
    return _PRICES.cost_usd(usage, model)


def is_priced(model: str) -> bool:
    """Whether ``model`` has one of the prices that come with Proctor."""
    return _PRICES.is_priced(model)
