"""Observed → Decision: what to record, close, stop and start next (pure).

Called by both launchers in every pass. It never reads a clock and never acts; with a decision
carried out, the next one is empty.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from proctor.api.conditions import Reason
from proctor.api.outcome import Outcome
from proctor.engine.budget import NOT_STARTED, is_used_up
from proctor.engine.model import (
    AttemptPhase,
    Close,
    Decision,
    DesiredTrial,
    Observed,
    ObservedAttempt,
    Record,
    Start,
    Stop,
    TrialId,
    Waiting,
)
from proctor.engine.systemic import systemic_failure
from proctor.engine.trial import Step, next_step
from proctor.engine.trial_status import cancelled_status, not_started_status

STUCK_RETRY = timedelta(seconds=15)
"""How soon to try again when attempts could not be made (quota, admission)."""


def decide(observed: Observed) -> Decision:
    """Compare what is desired with what was observed."""
    attempts = _by_trial(observed.attempts)
    steps = {
        trial.id: next_step(trial, attempts.get(trial.id, ()), observed)
        for trial in observed.desired
        if trial.id not in observed.recorded
    }
    ending = end_reason(observed)
    if ending is not None:
        return _end(observed, steps, ending)
    if observed.suspend:
        return _suspend(observed, steps)
    return _advance(observed, steps)


def end_reason(observed: Observed) -> Reason | None:
    """Why the run ends before all its trials did, or None."""
    if observed.refused:
        return Reason.REJECTED
    if observed.cancelled:
        return Reason.CANCELLED
    deadline = _deadline(observed)
    return Reason.DEADLINE_EXCEEDED if deadline and observed.now >= deadline else None


def _advance(observed: Observed, steps: dict[TrialId, Step]) -> Decision:
    records = [step.record for step in steps.values() if step.record]
    given_up = _gives_up(observed, records)
    live = [step.alive for step in steps.values() if step.alive]
    idle = [trial for trial in observed.desired if trial.id in steps and steps[trial.id].is_idle]
    if given_up:
        left = {trial.id for trial in idle}
        records += [_not_started(observed, one.id, steps[one.id], given_up) for one in idle]
        steps = {
            trial: replace(step, close=None) if trial in left else step
            for trial, step in steps.items()
        }
        idle = []
    starts = _starts(observed, steps, idle, len(live))
    waiting = _most_telling(live, observed.stuck if idle else None)
    return Decision(
        record=tuple(records),
        close=tuple(step.close for step in steps.values() if step.close),
        stop=_stops(observed, steps),
        start=starts,
        complete=_all_recorded(observed, records),
        waiting=waiting,
        wake_at=_wake_at(observed, steps, bool(idle)),
        running=sum(attempt.phase is AttemptPhase.RUNNING for attempt in live),
    )


@dataclass(frozen=True, slots=True)
class _GivenUp:
    """Why no further trial starts, and what those that are left end as."""

    why: str
    outcome: Outcome = Outcome.CANCELLED


def _gives_up(observed: Observed, records: Sequence[Record]) -> _GivenUp | None:
    """Why no further trial starts, or None."""
    ended = {**observed.recorded, **{record.trial: record.status for record in records}}
    if is_used_up(replace(observed, recorded=ended)):
        return _GivenUp(NOT_STARTED)
    unfit = _stays_unfit(observed)
    if unfit:
        return _GivenUp(f"{unfit.reason.value}: {unfit.message}", Outcome.INFRA_FAILED)
    why = systemic_failure(ended.values())
    return _GivenUp(why) if why else None


def _stays_unfit(observed: Observed) -> Waiting | None:
    """What nobody has mended for as long as an attempt may wait."""
    timeout = timedelta(seconds=observed.policy.pending_timeout_seconds)
    since = observed.unfit_since
    return observed.stuck if since and observed.now >= since + timeout else None


def _not_started(observed: Observed, trial: TrialId, step: Step, given_up: _GivenUp) -> Record:
    history = [*observed.closed.get(trial, ()), *([step.close.attempt] if step.close else ())]
    why, outcome = given_up.why, given_up.outcome
    return Record(trial, not_started_status(why, observed.now, history, outcome))


def _starts(
    observed: Observed, steps: dict[TrialId, Step], idle: Sequence[DesiredTrial], live: int
) -> tuple[Start, ...]:
    free = max(observed.parallelism - live, 0)
    if observed.stuck and observed.now < observed.stuck.since + STUCK_RETRY:
        return ()
    return tuple(Start(trial.id, steps[trial.id].next_number) for trial in idle[:free])


def _end(observed: Observed, steps: dict[TrialId, Step], reason: Reason) -> Decision:
    """Keep what was measured, cancel everything else."""
    records = [
        step.record or _cancelled(observed, trial, step, reason) for trial, step in steps.items()
    ]
    return Decision(
        record=tuple(records), stop=_stops(observed, steps, reason.value), complete=reason
    )


def _cancelled(observed: Observed, trial: TrialId, step: Step, reason: Reason) -> Record:
    history = list(observed.closed.get(trial, ()))
    if step.close:
        history.append(step.close.attempt)
    if step.interrupted:
        history.append(step.interrupted)
    return Record(trial, cancelled_status(reason, observed.now, history))


def _suspend(observed: Observed, steps: dict[TrialId, Step]) -> Decision:
    """Harvest what ended, stop the rest without using up a retry, start nothing."""
    records = [step.record for step in steps.values() if step.record]
    closes = [
        step.close or (step.interrupted and Close(trial, step.interrupted))
        for trial, step in steps.items()
    ]
    return Decision(
        record=tuple(records),
        close=tuple(close for close in closes if close),
        stop=_stops(observed, steps, Reason.SUSPENDED.value),
        complete=_all_recorded(observed, records),
        wake_at=_deadline(observed),
    )


def _stops(
    observed: Observed, steps: dict[TrialId, Step], everything: str | None = None
) -> tuple[Stop, ...]:
    """Attempts to end: those that a step gives up, those of ended trials, or all that live."""
    stops = []
    for attempt in observed.attempts:
        if attempt.phase is AttemptPhase.ENDED:
            continue
        step = steps.get(attempt.trial)
        if step is None:
            stops.append(Stop(attempt.trial, attempt.number, "TrialEnded"))
        elif everything or step.alive != attempt:
            stops.append(Stop(attempt.trial, attempt.number, everything or step.stop_reason))
    return tuple(stops)


def _all_recorded(observed: Observed, records: Sequence[Record]) -> Reason | None:
    known = observed.recorded.keys() | {record.trial for record in records}
    if not observed.rest and all(trial.id in known for trial in observed.desired):
        return Reason.ALL_TRIALS_FINISHED
    return None


def _most_telling(live: Sequence[ObservedAttempt], stuck: Waiting | None) -> Waiting | None:
    reasons = [stuck] if stuck else []
    reasons += [attempt.waiting for attempt in live if attempt.waiting]
    return min(reasons, key=lambda waiting: (not waiting.fatal, waiting.since), default=None)


def _wake_at(observed: Observed, steps: dict[TrialId, Step], idle: bool) -> datetime | None:
    moments = [step.wake_at for step in steps.values() if step.wake_at]
    if observed.stuck and idle:
        moments.append(observed.stuck.since + STUCK_RETRY)
    deadline = _deadline(observed)
    if deadline:
        moments.append(deadline)
    return min((moment for moment in moments if moment > observed.now), default=None)


def _deadline(observed: Observed) -> datetime | None:
    if observed.active_deadline_seconds is None or observed.start_time is None:
        return None
    return observed.start_time + timedelta(seconds=observed.active_deadline_seconds)


def _by_trial(attempts: Sequence[ObservedAttempt]) -> dict[TrialId, list[ObservedAttempt]]:
    grouped: dict[TrialId, list[ObservedAttempt]] = {}
    for attempt in attempts:
        grouped.setdefault(attempt.trial, []).append(attempt)
    return grouped
