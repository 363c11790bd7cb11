"""The final status of a trial, from its verdict or from the failure that left none (pure)."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal

from proctor.api.conditions import Reason
from proctor.api.evaltrial import CriterionStatus, EvalTrialStatus, StageSeconds
from proctor.api.outcome import FailureClass, Outcome
from proctor.api.results import written_digest
from proctor.api.run_status import TokenCounts
from proctor.api.termination import TrialVerdict
from proctor.api.text import cut
from proctor.engine.history import cost_something, history_lines
from proctor.engine.instants import rfc3339
from proctor.engine.model import ClosedAttempt, DesiredTrial, Failure, ObservedAttempt
from proctor.engine.money import total_money

_REASON_LENGTH = 240
_PROBLEM_LENGTH = 120


def verdict_status(
    trial: DesiredTrial,
    attempt: ObservedAttempt,
    verdict: TrialVerdict,
    closed: Sequence[ClosedAttempt],
    now: datetime,
) -> EvalTrialStatus:
    """The trial was graded; attempts that were lost before are added to its cost."""
    if len(verdict.scores) != len(trial.criteria):
        message = f"verdict on {len(verdict.scores)} criteria, the trial has {len(trial.criteria)}"
        failure = Failure(FailureClass.GRADER, "VerdictMismatch", message)
        return failure_status(trial, attempt, failure, closed, now)
    last = _graded(attempt, verdict)
    return _status(
        verdict.outcome,
        verdict.score,
        verdict.reason,
        history=[*closed, last],
        now=now,
    ).model_copy(
        update={
            "criteria": tuple(
                CriterionStatus(name=name, score=score, passed=passed)
                for name, score, passed in zip(
                    trial.criteria, verdict.scores, verdict.passed, strict=True
                )
            ),
            "refused": verdict.bill.refused,
            "turns": verdict.turns,
            "seconds": _stages(attempt, verdict),
            "record_digest": written_digest(verdict.digest),
            "pod_changes": tuple(cut(one, 120) for one in attempt.pod_changes[:20]),
            "record_place": "ResultsServer" if verdict.stored else None,
            "record_problem": cut(verdict.not_stored, _PROBLEM_LENGTH),
        }
    )


def _graded(attempt: ObservedAttempt, verdict: TrialVerdict) -> ClosedAttempt:
    """Its line in the history: what ``grade`` knows of a provider's fault stands there too."""
    if verdict.failure_class is None:
        return ClosedAttempt(attempt.number, attempt.uid, None, "Graded", "", verdict.bill)
    reason = f"{verdict.failure_class.value.capitalize()}Failed"
    return ClosedAttempt(
        attempt.number, attempt.uid, verdict.failure_class, reason, verdict.reason, verdict.bill
    )


def failure_status(
    trial: DesiredTrial,
    attempt: ObservedAttempt,
    failure: Failure,
    closed: Sequence[ClosedAttempt],
    now: datetime,
) -> EvalTrialStatus:
    """The trial ended without a verdict: the agent's fault is a 0, everything else a null."""
    line = ClosedAttempt(
        attempt.number,
        attempt.uid,
        failure.failure_class,
        failure.reason,
        failure.message,
        attempt.bill,
    )
    history = [*closed, line]
    outcome = _OUTCOMES[failure.failure_class]
    if failure.failure_class is FailureClass.TASK and failure.reason == "DeadlineExceeded":
        outcome = Outcome.TIMED_OUT
    score = Decimal(0) if failure.failure_class in _AGENTS_FAULT else None
    status = _status(
        outcome,
        score,
        f"{failure.reason}: {failure.message}",
        history=history,
        now=now,
    ).model_copy(update={"refused": attempt.bill.refused if attempt.bill else None})
    if score is None:
        return status
    criteria = tuple(CriterionStatus(name=name, score=Decimal(0)) for name in trial.criteria)
    return status.model_copy(update={"criteria": criteria})


def cancelled_status(
    reason: Reason, now: datetime, closed: Sequence[ClosedAttempt]
) -> EvalTrialStatus:
    """The run ended before the trial did."""
    return _status(
        Outcome.CANCELLED,
        None,
        f"{reason.value}: {_ENDINGS.get(reason, 'the run ended')}",
        history=closed,
        now=now,
    )


def not_started_status(
    why: str,
    now: datetime,
    closed: Sequence[ClosedAttempt] = (),
    outcome: Outcome = Outcome.CANCELLED,
) -> EvalTrialStatus:
    """The trial was given up before it started, or before it started again."""
    return _status(outcome, None, why, history=closed, now=now)


_OUTCOMES = {
    FailureClass.TASK: Outcome.AGENT_ERROR,
    FailureClass.BUDGET: Outcome.COST_BUDGET_EXCEEDED,
    FailureClass.GRADER: Outcome.GRADER_ERROR,
    FailureClass.INFRA: Outcome.INFRA_FAILED,
    FailureClass.CAPACITY: Outcome.INFRA_FAILED,
    FailureClass.CONFIG: Outcome.INFRA_FAILED,
    FailureClass.PROVIDER: Outcome.INFRA_FAILED,
}
_ENDINGS = {
    Reason.CANCELLED: "the run was cancelled",
    Reason.DEADLINE_EXCEEDED: "activeDeadlineSeconds was reached",
    Reason.REJECTED: "the run could not go on: see its condition Accepted",
}
_AGENTS_FAULT = frozenset({FailureClass.TASK, FailureClass.BUDGET})


def _status(
    outcome: Outcome,
    score: Decimal | None,
    reason: str,
    *,
    history: Sequence[ClosedAttempt],
    now: datetime,
) -> EvalTrialStatus:
    money = total_money([one.bill for one in history if cost_something(one)])
    return EvalTrialStatus(
        outcome=outcome.value,
        score=score,
        reason=cut(reason, _REASON_LENGTH),
        cost_usd=money.cost_usd,
        scripted_cost_usd=money.scripted_cost_usd,
        cost_complete=money.complete,
        tokens=TokenCounts.of(money.usage),
        model_calls=money.calls,
        attempts=history_lines(history),
        completion_time=rfc3339(now),
    )


def _stages(attempt: ObservedAttempt, verdict: TrialVerdict) -> StageSeconds:
    queue = None
    if attempt.started_at is not None:
        waited = (attempt.started_at - attempt.created_at).total_seconds()
        queue = Decimal(str(round(max(waited, 0.0), 3)))
    return StageSeconds(
        queue=queue,
        agent=_seconds(verdict.agent_ms),
        checks=_seconds(verdict.checks_ms),
        grade=_seconds(verdict.grade_ms),
    )


def _seconds(milliseconds: int | None) -> Decimal | None:
    return None if milliseconds is None else Decimal(milliseconds) / 1000
