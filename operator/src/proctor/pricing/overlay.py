"""Prices that override or complete the catalog's: from the chart, from plugins, from here.

Each has an owner. The same price from two owners is no conflict; two prices for one model are,
and then none of the newcomer's is taken: who pays by accident whatever was loaded last?
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from proctor.api.errors import UserError
from proctor.pricing.names import spellings
from proctor.pricing.rate import Rate


class PriceConflictError(UserError):
    """Two owners, or one of them twice, price a model differently; names all such models."""


@dataclass(frozen=True, slots=True)
class Overlay:
    """Rates by model, in lower case, each with its owner."""

    entries: Mapping[str, tuple[Rate, str]] = field(default_factory=dict)

    def adding(self, owner: str, rates: Iterable[tuple[str, Rate]]) -> "Overlay":
        """A new overlay with all of ``rates``.

        Raises:
            PriceConflictError: With every model that has another price already; nothing is added.
        """
        entries, conflicts = dict(self.entries), list[str]()
        for model, rate in rates:
            known = entries.setdefault(model.lower(), (rate, owner))
            if known[0] != rate:
                conflicts.append(f"{model!r} has a price of {known[1]} and another one of {owner}")
        if conflicts:
            raise PriceConflictError("; ".join(conflicts) + ": keep one of them")
        return replace(self, entries=entries)

    def find(self, model: str) -> tuple[str, Rate] | None:
        """The rate of the most exact spelling, with its name; None: there is none."""
        for name in spellings(model) if self.entries else ():
            if name in self.entries:
                return name, self.entries[name][0]
        return None


OVERLAY = Overlay()
"""What comes with Proctor. Empty: the catalog has every model that the makers list today."""
