"""What to do next about one trial that has not ended (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from proctor.api.outcome import FailureClass
from proctor.api.usage import Bill
from proctor.engine.model import (
    AttemptPhase,
    Close,
    ClosedAttempt,
    DesiredTrial,
    Failure,
    Observed,
    ObservedAttempt,
    Record,
)
from proctor.engine.trial_status import failure_status, verdict_status

FATAL_GRACE = timedelta(seconds=60)
"""How long a reason that no waiting will help may stand: image pulls are tried again at first."""

_NOTHING_RAN = Bill()


@dataclass(frozen=True, slots=True)
class Step:
    """The next step of one trial.

    Args:
        next_number: Number of the attempt that would be started next.
        alive: The attempt that goes on, or None.
        record: The trial has ended.
        close: Its attempt has ended, and another one follows.
        interrupted: What its history says if its attempt is stopped from outside.
        stop_reason: Why an attempt that is not ``alive`` must end.
        wake_at: When its attempt has waited too long.
    """

    next_number: int
    alive: ObservedAttempt | None = None
    record: Record | None = None
    close: Close | None = None
    interrupted: ClosedAttempt | None = None
    stop_reason: str = "Superseded"
    wake_at: datetime | None = None

    @property
    def is_idle(self) -> bool:
        """Whether the trial only waits for its next attempt to be started."""
        return self.alive is None and self.record is None


def next_step(trial: DesiredTrial, attempts: Sequence[ObservedAttempt], observed: Observed) -> Step:
    """Look at the current attempt; attempts in the history are over, whatever they still say."""
    closed = observed.closed.get(trial.id, ())
    last_closed = max((attempt.number for attempt in closed), default=0)
    current = max(
        (attempt for attempt in attempts if attempt.number > last_closed),
        key=lambda attempt: attempt.number,
        default=None,
    )
    if current is None:
        return Step(next_number=last_closed + 1)
    if current.phase is AttemptPhase.ENDED:
        return _ended(trial, current, closed, observed)
    return _alive(trial, current, closed, observed)


def _ended(
    trial: DesiredTrial,
    attempt: ObservedAttempt,
    closed: Sequence[ClosedAttempt],
    observed: Observed,
) -> Step:
    after = attempt.number + 1
    if attempt.verdict is not None:
        status = verdict_status(trial, attempt, attempt.verdict, closed, observed.now)
        return Step(after, record=Record(trial.id, status))
    failure = attempt.failure or _UNEXPLAINED
    if _runs_again(failure, closed, observed):
        return Step(after, close=Close(trial.id, _history_line(attempt, failure)))
    status = failure_status(trial, attempt, failure, closed, observed.now)
    return Step(after, record=Record(trial.id, status))


def _alive(
    trial: DesiredTrial,
    attempt: ObservedAttempt,
    closed: Sequence[ClosedAttempt],
    observed: Observed,
) -> Step:
    number = attempt.number
    interrupted = _interrupted(attempt)
    if attempt.phase is AttemptPhase.RUNNING:
        return Step(number + 1, alive=attempt, interrupted=interrupted)
    limit = _waits_until(attempt, observed)
    if observed.now < limit:
        return Step(number + 1, alive=attempt, interrupted=interrupted, wake_at=limit)
    failure = _waited_too_long(attempt, observed)
    status = failure_status(trial, attempt, failure, closed, observed.now)
    return Step(number + 1, record=Record(trial.id, status), stop_reason=failure.reason)


def _interrupted(attempt: ObservedAttempt) -> ClosedAttempt:
    """Its line in the history; what ran without a bill is a cost that nobody knows."""
    ran = attempt.phase is AttemptPhase.RUNNING
    bill = attempt.bill if ran else _NOTHING_RAN
    return ClosedAttempt(attempt.number, attempt.uid, None, "Interrupted", "stopped", bill)


def _waits_until(attempt: ObservedAttempt, observed: Observed) -> datetime:
    timeout = timedelta(seconds=observed.policy.pending_timeout_seconds)
    limit = attempt.created_at + timeout
    if attempt.waiting and attempt.waiting.fatal:
        return min(limit, attempt.waiting.since + FATAL_GRACE)
    return limit


def _waited_too_long(attempt: ObservedAttempt, observed: Observed) -> Failure:
    waiting = attempt.waiting
    if waiting is None:
        seconds = observed.policy.pending_timeout_seconds
        message = f"nothing of it ran within {seconds} s (failurePolicy.pendingTimeoutSeconds)"
        return Failure(FailureClass.CAPACITY, "PendingTimeout", message)
    return Failure(waiting.failure_class, waiting.reason.value, waiting.message)


def _runs_again(failure: Failure, closed: Sequence[ClosedAttempt], observed: Observed) -> bool:
    policy = observed.policy
    retried = failure.failure_class is FailureClass.INFRA or (
        failure.reason == "OOMKilled" and policy.retry_on_oom
    )
    used = sum(attempt.failure_class is not None for attempt in closed)
    return retried and used < policy.infra_retries


def _history_line(attempt: ObservedAttempt, failure: Failure) -> ClosedAttempt:
    return ClosedAttempt(
        attempt.number,
        attempt.uid,
        failure.failure_class,
        failure.reason,
        failure.message,
        attempt.bill,
    )


_UNEXPLAINED = Failure(
    FailureClass.INFRA, "Unexplained", "the attempt ended with neither a verdict nor a reason"
)
