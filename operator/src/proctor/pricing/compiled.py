"""A catalog model's price in the form that is quick to apply. Pure, standard library only.

genai-prices looks at all units it knows for each call, a quarter of a millisecond; nearly all
calls use only five of them. A test holds the two against each other for all models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from proctor.api.usage import Usage, UsageDetails
from proctor.pricing.rate import MTOK

_ZERO = Decimal(0)
_TEXT_KEYS = (
    "input_mtok",
    "output_mtok",
    "cache_read_mtok",
    "cache_write_mtok",
    "cache_write_1h_mtok",
)
_MISSING = ("cache_read_mtok", "cache_write_mtok")


@dataclass(frozen=True, slots=True)
class Steps:
    """US dollars for a million tokens by the length of a call's input.

    Args:
        beyond: The price from more than so many tokens on, longest first.
    """

    base: Decimal
    beyond: Sequence[tuple[int, Decimal]] = ()

    def at(self, heard: int) -> Decimal:
        """The price of a call with so much input."""
        for start, price in self.beyond:
            if heard > start:
                return price
        return self.base


@dataclass(frozen=True, slots=True)
class CompiledPrice:
    """What text costs."""

    input: Steps
    output: Steps
    cache_read: Steps
    cache_write: Steps
    cache_write_1h: Steps

    def cost_usd(self, usage: Usage, details: UsageDetails) -> Decimal:
        """Price a call's usage, in US dollars."""
        heard = usage.input + usage.cache_read + usage.cache_write
        hour = min(details.cache_write_1h, usage.cache_write)
        usd = usage.input * self.input.at(heard) + usage.output * self.output.at(heard)
        if usage.cache_read:
            usd += usage.cache_read * self.cache_read.at(heard)
        if usage.cache_write:
            usd += (usage.cache_write - hour) * self.cache_write.at(heard)
            usd += hour * self.cache_write_1h.at(heard)
        return usd / MTOK


def compiled(model_price: Any) -> CompiledPrice | None:
    """Compile genai-prices' price; None: it has parts that only that package can apply."""
    stated = {key: value for key, value in vars(model_price).items() if value is not None}
    if "input_mtok" not in stated or any(_depends_on_text(key) for key in stated):
        return None
    # What is cached costs as other input where nothing else is said, an hour as five minutes.
    steps = {key: _steps(stated[key]) for key in _TEXT_KEYS if key in stated}
    for key in _MISSING:
        steps.setdefault(key, steps["input_mtok"])
    steps.setdefault("cache_write_1h_mtok", steps["cache_write_mtok"])
    steps.setdefault("output_mtok", Steps(_ZERO))
    return CompiledPrice(*(steps[key] for key in _TEXT_KEYS))


def is_text_only(details: UsageDetails) -> bool:
    """Whether nothing was used that may have a price of its own beside text's."""
    return not (
        details.input_image
        or details.input_audio
        or details.cached_audio
        or details.output_image
        or details.output_audio
    )


def _depends_on_text(key: str) -> bool:
    """Whether a price is for a kind of text tokens that is not among the five."""
    if key in _TEXT_KEYS or not key.endswith("_mtok"):
        return key.startswith("input_mchars") or key == "requests_kcount"
    return not any(kind in key for kind in ("audio", "image", "video"))


def _steps(price: Any) -> Steps:
    tiers = getattr(price, "tiers", None)
    if tiers is None:
        return Steps(price)
    return Steps(price.base, tuple((tier.start, tier.price) for tier in reversed(tiers)))
