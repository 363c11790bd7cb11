"""Trials → what a run and its variants reached (pure, standard library)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from proctor.api.outcome import Outcome
from proctor.api.usage import Usage


@dataclass(frozen=True, slots=True)
class TrialSummary:
    """One trial that ended.

    Args:
        score: None: not measured; it leaves the mean, and the completion ratio shows it.
        cost_usd: Spent; None: unknown.
        scripted_cost_usd: What scripted answers would have cost; None: nothing was scripted.
    """

    outcome: Outcome
    score: Decimal | None
    cost_usd: Decimal | None
    scripted_cost_usd: Decimal | None
    cost_complete: bool
    usage: Usage


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What a set of trials reached. The ratios are exact; statuses cut them to six digits.

    Args:
        total: All trials that belong to it, ended or not.
        score: Mean of scored trials; None: none was scored.
        pass_ratio: passed / scored; None: none was scored.
        completion_ratio: scored / total; None: there are no trials.
        cost_usd: Sum of what is known; None: of no trial is it known.
        cost_complete: False: the cost is a floor.
    """

    total: int
    scored: int
    passed: int
    score: Decimal | None
    pass_ratio: Decimal | None
    completion_ratio: Decimal | None
    cost_usd: Decimal | None
    scripted_cost_usd: Decimal | None
    cost_complete: bool
    usage: Usage


def aggregate(trials: Sequence[TrialSummary], total: int) -> Aggregate:
    """Sum up trials that ended, out of ``total``."""
    scores = [trial.score for trial in trials if trial.score is not None]
    passed = sum(trial.outcome is Outcome.PASSED for trial in trials)
    costs = [trial.cost_usd for trial in trials]
    return Aggregate(
        total=total,
        scored=len(scores),
        passed=passed,
        score=_ratio(sum(scores, Decimal(0)), len(scores)),
        pass_ratio=_ratio(Decimal(passed), len(scores)),
        completion_ratio=_ratio(Decimal(len(scores)), total),
        cost_usd=_sum_known(costs),
        scripted_cost_usd=_sum_known(trial.scripted_cost_usd for trial in trials),
        cost_complete=None not in costs and all(trial.cost_complete for trial in trials),
        usage=sum((trial.usage for trial in trials), Usage()),
    )


def _ratio(part: Decimal, whole: int) -> Decimal | None:
    return part / whole if whole else None


def _sum_known(amounts: Iterable[Decimal | None]) -> Decimal | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known, Decimal(0)) if known else None
