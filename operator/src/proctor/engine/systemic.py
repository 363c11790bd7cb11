"""Whether a run fails for a reason that no further trial would escape (pure)."""

from collections import Counter
from collections.abc import Iterable

from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.outcome import FailureClass
from proctor.api.report import NETWORK_NOT_ENFORCED

IDENTICAL_FAILURES = 3
"""So many trials must fail alike, and none may have been scored, before the rest is given up."""


_OF_THE_CLUSTER = frozenset({NETWORK_NOT_ENFORCED})
"""Faults of the platform that every pod of it has."""


def systemic_failure(ended: Iterable[EvalTrialStatus]) -> str | None:
    """What stopped every trial so far, and will stop the others, or None."""
    reasons: Counter[str] = Counter()
    for status in ended:
        if status.score is not None:
            return None
        last = status.attempts[-1] if status.attempts else None
        if last and (last.failure_class == FailureClass.CONFIG or last.reason in _OF_THE_CLUSTER):
            reasons[last.reason] += 1
    if not reasons:
        return None
    reason, count = reasons.most_common(1)[0]
    if count < IDENTICAL_FAILURES:
        return None
    return f"not started: {count} trials before it failed with {reason}"
