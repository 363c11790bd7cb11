"""Whether a run's budget is used up (pure)."""

from collections.abc import Iterator
from decimal import Decimal

from proctor.api.usage import RUN_BUDGET, SPENDING_MODES, Bill
from proctor.engine.model import Observed

NOT_STARTED = "BudgetExceeded: not started, the run's budget (spec.budget.usd) is used up"


def spent_usd(observed: Observed) -> Decimal:
    """US dollars that the run is known to have spent; a floor.

    The gateway knows more than the records while trials run, and less when its ledger was lost.
    """
    recorded = [status.cost_usd for status in observed.recorded.values()]
    others = [bill.cost_usd for bill in _unrecorded(observed) if bill.mode in SPENDING_MODES]
    known = sum((usd for usd in (*recorded, *others) if usd is not None), Decimal(0))
    return max(known, observed.spending.cost_usd) if observed.spending else known


def is_used_up(observed: Observed) -> bool:
    """Whether no trial may start any more.

    Once an agent was refused by the budget, it is, whatever the figures say.
    """
    if observed.budget_usd is None:
        return False
    if observed.budget_was_used_up:
        return True
    refused = [status.refused for status in observed.recorded.values()]
    refused += [bill.refused for bill in _unrecorded(observed)]
    return RUN_BUDGET in refused or spent_usd(observed) >= observed.budget_usd


def _unrecorded(observed: Observed) -> Iterator[Bill]:
    """Bills of attempts whose trials have not ended."""
    over: dict[object, int] = {}
    for trial, history in observed.closed.items():
        if trial in observed.recorded:
            continue
        over[trial] = max((one.number for one in history), default=0)
        yield from (one.bill for one in history if one.bill is not None)
    for attempt in observed.attempts:
        if attempt.trial in observed.recorded or attempt.number <= over.get(attempt.trial, 0):
            continue
        bill = attempt.verdict.bill if attempt.verdict is not None else attempt.bill
        if bill is not None:
            yield bill
