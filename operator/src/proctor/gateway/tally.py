"""Calls, tokens and money of one role, added up."""

from dataclasses import dataclass, field
from decimal import Decimal

from proctor.api.usage import Usage
from proctor.gateway.events import CallEnded


@dataclass(frozen=True, slots=True)
class Tally:
    """What calls that are over used.

    Args:
        calls: Those that the model answered or refused.
        cost_usd: US dollars; None when one of them had no price.
        complete: Whether no more was spent than the figures say.
    """

    calls: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: Decimal | None = Decimal(0)
    complete: bool = True

    def with_call(self, ended: CallEnded) -> "Tally":
        """With one more."""
        calls = self.calls + ended.reached_model
        complete = self.complete and ended.complete
        if ended.usage is None:
            return Tally(calls, self.usage, self.cost_usd, complete)
        usage = self.usage + ended.usage
        if ended.cost_usd is None or self.cost_usd is None:
            return Tally(calls, usage, None, False)
        return Tally(calls, usage, self.cost_usd + ended.cost_usd, complete)
