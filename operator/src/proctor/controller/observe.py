"""What the mirrors hold of a run → the engine's ``Observed`` (pure)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.outcome import FailureClass
from proctor.api.termination import TrialVerdict
from proctor.api.usage import Bill
from proctor.controller.ending import failure_of, has_ended, verdict_of
from proctor.controller.harvested import HarvestedRun
from proctor.controller.memory import RunMemory
from proctor.controller.names import AGENT
from proctor.controller.pending import waiting_of
from proctor.controller.proved import network_facts
from proctor.controller.seen import SeenPod, SeenRun, SeenTrial
from proctor.engine.conditions import budget_is_used_up
from proctor.engine.history import closed_attempt
from proctor.engine.instants import instant
from proctor.engine.model import (
    AttemptPhase,
    ClosedAttempt,
    Failure,
    Observed,
    ObservedAttempt,
    TrialId,
)

_SHOWN_CHANGES = 4


def observe_run(
    run: SeenRun,
    planned: HarvestedRun,
    trials: Mapping[str, SeenTrial],
    pods: Mapping[str, SeenPod],
    memory: RunMemory,
    now: datetime,
    others: frozenset[str] = frozenset(),
) -> Observed:
    """Everything that a decision about the run rests on.

    ``others`` are NetworkPolicies of somebody else that open its pods.
    """
    ours = {
        name: trial
        for name, trial in trials.items()
        if name in planned.trials and trial.run_uid == planned.uid and not trial.identity.deleting
    }
    spec, started = planned.spec, run.status.start_time
    return Observed(
        now=now,
        desired=planned.desired,
        attempts=tuple(_attempts(planned, ours, pods, memory, now)),
        closed={
            planned.trials[name]: history(trial)
            for name, trial in ours.items()
            if trial.status.attempts and trial.status.outcome is None
        },
        recorded=_recorded(planned, ours),
        parallelism=spec.parallelism,
        policy=planned.policy,
        gate=spec.gate,
        start_time=instant(started) if started else None,
        suspend=spec.suspend,
        cancelled=spec.cancelled,
        active_deadline_seconds=spec.active_deadline_seconds,
        stuck=memory.stuck,
        unfit_since=memory.unfit_since,
        budget_usd=planned.budget_usd,
        budget_was_used_up=budget_is_used_up(run.status.conditions),
        spending=memory.spending,
        network=network_facts(pods.values(), others),
    )


def history(trial: SeenTrial) -> tuple[ClosedAttempt, ...]:
    """Attempts that ended without ending the trial."""
    return tuple(closed_attempt(line) for line in trial.status.attempts)


def is_over(trial: SeenTrial, attempt: int) -> bool:
    """Whether nothing is to be learned from this attempt any more."""
    closed = any(line.number >= attempt for line in trial.status.attempts)
    return trial.status.outcome is not None or closed


def is_asked_for(pod: SeenPod, trial: SeenTrial) -> bool:
    """Whether the pod is the one that the operator made for the trial's current attempt."""
    return pod.owner == trial.identity.uid and pod.digest == trial.pod_digest


def _recorded(
    planned: HarvestedRun, ours: Mapping[str, SeenTrial]
) -> Mapping[TrialId, EvalTrialStatus]:
    return {
        planned.trials[name]: trial.status
        for name, trial in ours.items()
        if trial.status.outcome is not None
    }


def _attempts(
    planned: HarvestedRun,
    ours: Mapping[str, SeenTrial],
    pods: Mapping[str, SeenPod],
    memory: RunMemory,
    now: datetime,
) -> Iterator[ObservedAttempt]:
    for pod in pods.values():
        trial = ours.get(pod.trial)
        if trial is None or pod.owner != trial.identity.uid or pod.attempt > trial.spec.attempt:
            continue
        if (pod.trial, pod.attempt) in memory.vanished:
            continue  # another one has its name
        if is_over(trial, pod.attempt) and (pod.identity.deleting or has_ended(pod, now)):
            continue
        bill = _bill(planned, pod, memory)
        changed = memory.changed.get((pod.trial, pod.attempt), ())
        yield _attempt(planned, pod, trial, bill, now, changed)
    yield from _without_pod(planned, ours, memory)


def _attempt(
    planned: HarvestedRun,
    pod: SeenPod,
    trial: SeenTrial,
    bill: Bill | None,
    now: datetime,
    changed: Sequence[str] = (),
) -> ObservedAttempt:
    """What a pod shows. One that is not as it was asked for goes on until somebody said why."""
    agent = pod.containers.get(AGENT)
    started_at = agent.started_at if agent else None
    attempt = ObservedAttempt(
        trial=planned.trials[pod.trial],
        number=pod.attempt,
        phase=AttemptPhase.RUNNING if started_at else AttemptPhase.WAITING,
        uid=pod.identity.uid,
        created_at=pod.identity.created_at,
        started_at=started_at,
        pod_changes=trial.pod_changes if pod.attempt == trial.spec.attempt else (),
    )
    is_judged = is_over(trial, pod.attempt) or is_asked_for(pod, trial)
    if changed and not is_judged:
        return _ended(attempt, _foreign(changed), bill)
    if is_judged and has_ended(pod, now):
        return _ended(attempt, verdict_of(pod, trial.identity.uid), bill)
    if attempt.phase is AttemptPhase.WAITING:
        return replace(attempt, waiting=waiting_of(pod, now))
    return replace(attempt, bill=bill)


def _ended(
    attempt: ObservedAttempt, end: TrialVerdict | Failure, bill: Bill | None
) -> ObservedAttempt:
    if isinstance(end, Failure):
        return replace(attempt, phase=AttemptPhase.ENDED, failure=end, bill=bill)
    return replace(attempt, phase=AttemptPhase.ENDED, verdict=end)


def _foreign(changed: Sequence[str]) -> Failure:
    """The pod is not what was asked for: whatever it says is worth nothing."""
    what = ", ".join(changed[:_SHOWN_CHANGES])
    more = f" and {len(changed) - _SHOWN_CHANGES} more" if len(changed) > _SHOWN_CHANGES else ""
    message = (
        f"{what}{more}: added or changed by a webhook or somebody else; exempt the namespace, or "
        "set the chart's trials.allowChanges"
    )
    return Failure(FailureClass.CONFIG, "PodChanged", message)


def _bill(planned: HarvestedRun, pod: SeenPod, memory: RunMemory) -> Bill | None:
    """What the attempt cost; nothing, when it could not have asked a model."""
    cell = planned.cell(planned.trials[pod.trial])
    agent = pod.containers.get(AGENT)
    if not cell.needs_model or agent is None or not agent.has_started:
        return Bill(mode=cell.models.value)
    return memory.bills.get((pod.trial, pod.attempt))


def _without_pod(
    planned: HarvestedRun, ours: Mapping[str, SeenTrial], memory: RunMemory
) -> Iterator[ObservedAttempt]:
    """Attempts whose pod was refused for good, or vanished."""
    for (name, number), waiting in memory.refused.items():
        trial = ours.get(name)
        if trial is not None and not is_over(trial, number):
            yield ObservedAttempt(
                trial=planned.trials[name],
                number=number,
                phase=AttemptPhase.WAITING,
                uid="",
                created_at=waiting.since,
                waiting=waiting,
            )
    for (name, number), pod in memory.vanished.items():
        trial = ours.get(name)
        if trial is not None and not is_over(trial, number):
            attempt = _attempt(planned, pod, trial, None, pod.identity.created_at)
            failure = Failure(FailureClass.INFRA, "PodVanished", _VANISHED, failure_of(pod).started)
            yield _ended(attempt, failure, _bill(planned, pod, memory))


_VANISHED = "its pod was removed, finalizer and all, before it had ended"
