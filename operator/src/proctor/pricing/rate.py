"""Prices that we state ourselves, beside those of genai-prices."""

import datetime
from dataclasses import dataclass
from decimal import Decimal

from proctor.api.usage import NO_DETAILS, Usage, UsageDetails

MTOK = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class Rate:
    """What a model costs.

    Args:
        input_usd_per_mtok: US dollars for a million uncached input tokens; the others likewise.
        cache_write_1h_usd_per_mtok: For cache writes that are kept for an hour.
        source: Page that the price was read from.
        date: The day when it was read; None: it stands in ``source`` or nobody knows.
        above_input_tokens: With more input than this, cached input included, ``longer`` holds for
            the whole call.
        longer: Rate of long contexts; None: the length of the context is all the same.
    """

    input_usd_per_mtok: Decimal
    output_usd_per_mtok: Decimal
    cache_read_usd_per_mtok: Decimal
    cache_write_usd_per_mtok: Decimal
    cache_write_1h_usd_per_mtok: Decimal
    source: str
    date: datetime.date | None = None
    above_input_tokens: int = 0
    longer: "Rate | None" = None

    @classmethod
    def plain(
        cls, input_usd_per_mtok: Decimal, output_usd_per_mtok: Decimal, source: str
    ) -> "Rate":
        """A price that makes no difference between cached and other input."""
        price = input_usd_per_mtok
        return cls(price, output_usd_per_mtok, price, price, price, source)

    def cost_usd(self, usage: Usage, details: UsageDetails = NO_DETAILS) -> Decimal:
        """Price ``usage`` in US dollars."""
        heard = usage.input + usage.cache_read + usage.cache_write
        if self.longer is not None and heard > self.above_input_tokens:
            return self.longer.cost_usd(usage, details)
        hour = details.cache_write_1h
        return (
            usage.input * self.input_usd_per_mtok
            + usage.output * self.output_usd_per_mtok
            + usage.cache_read * self.cache_read_usd_per_mtok
            + (usage.cache_write - hour) * self.cache_write_usd_per_mtok
            + hour * self.cache_write_1h_usd_per_mtok
        ) / MTOK
