"""Attempts that are over, as lines of a trial's status and back (pure).

A status holds a bounded number of lines. What is beyond it is folded, never dropped: money that
was spent stays counted, and so do the retries that were used up.
"""

from collections.abc import Sequence
from dataclasses import replace

from proctor.api.evaltrial import MAX_ATTEMPTS, AttemptStatus
from proctor.api.outcome import FailureClass
from proctor.api.run_status import TokenCounts
from proctor.api.text import cut
from proctor.api.usage import SPENDING_MODES, Bill, Usage
from proctor.engine.model import ClosedAttempt
from proctor.engine.money import total_money

_REASON_LENGTH = 63
_MESSAGE_LENGTH = 300
_NEVER_RAN = frozenset({FailureClass.CAPACITY, FailureClass.CONFIG})


def cost_something(closed: ClosedAttempt) -> bool:
    """Whether it may have made model calls, so that a missing bill is an unknown cost."""
    return closed.bill is not None or closed.failure_class not in _NEVER_RAN


def history_lines(closed: Sequence[ClosedAttempt]) -> tuple[AttemptStatus, ...]:
    """One line an attempt; beyond ``MAX_ATTEMPTS`` the oldest that were stopped share one.

    An attempt that was stopped has used up no retry, and only those come in any number.
    """
    history = list(closed)
    while len(history) > MAX_ATTEMPTS:
        stopped = [index for index, one in enumerate(history) if one.failure_class is None]
        first, second = (stopped if len(stopped) > 1 else range(len(history)))[:2]
        history[second] = _together(history[first], history[second])
        del history[first]
    return tuple(_line(one) for one in history)


def closed_attempt(line: AttemptStatus) -> ClosedAttempt:
    """Read a line of history back from a trial's status."""
    bill = Bill(
        calls=line.model_calls,
        usage=line.tokens.usage(),
        cost_usd=line.cost_usd,
        cost_complete=line.cost_complete,
        mode=_mode(line),
    )
    failure_class = FailureClass(line.failure_class) if line.failure_class else None
    known = line.cost_usd is not None or line.model_calls > 0
    return ClosedAttempt(
        line.number, line.pod_uid, failure_class, line.reason, line.message, bill if known else None
    )


def _mode(line: AttemptStatus) -> str:
    if line.replayed:
        return "Replay"
    return "Scripted" if line.scripted else "Live"


def _together(earlier: ClosedAttempt, later: ClosedAttempt) -> ClosedAttempt:
    return replace(
        later,
        message="with attempts before it that were stopped as well",
        bill=_summed(earlier.bill, later.bill),
    )


def _summed(one: Bill | None, other: Bill | None) -> Bill | None:
    """Both bills; None when neither is known. One that is not known makes the sum a floor."""
    known = one or other
    if known is None:
        return None
    money = total_money([one, other])
    scripted = known.mode not in SPENDING_MODES
    return Bill(
        calls=money.calls,
        usage=money.usage,
        cost_usd=money.scripted_cost_usd if scripted else money.cost_usd,
        cost_complete=money.complete,
        mode=known.mode,
    )


def _line(closed: ClosedAttempt) -> AttemptStatus:
    bill = closed.bill
    return AttemptStatus(
        number=closed.number,
        pod_uid=closed.uid,
        failure_class=closed.failure_class.value if closed.failure_class else None,
        reason=cut(closed.reason, _REASON_LENGTH),
        message=cut(closed.message, _MESSAGE_LENGTH),
        cost_usd=bill.cost_usd if bill else None,
        cost_complete=bill.cost_complete if bill else not cost_something(closed),
        scripted=bill is not None and bill.mode not in SPENDING_MODES,
        replayed=bill is not None and bill.mode == "Replay",
        tokens=TokenCounts.of(bill.usage if bill else Usage()),
        model_calls=bill.calls if bill else 0,
    )
