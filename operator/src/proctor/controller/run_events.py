"""Kubernetes Events of an EvalRun: what people look for with ``kubectl describe`` (pure).

They follow from what a status says that the one before did not. None for a trial without a fault,
and a handful for a run; names are fixed, so that a repeated pass makes no second one.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from proctor.api.base import API_VERSION
from proctor.api.conditions import Condition
from proctor.api.outcome import Outcome
from proctor.api.ratio import ratio_text
from proctor.api.run_status import EvalRunStatus
from proctor.api.text import cut
from proctor.controller.names import digest
from proctor.controller.seen import SeenRun
from proctor.engine.instants import rfc3339

MOST_FAULTS = 3
"""Trials without a score that get an Event; the status names more."""

_MESSAGE_CHARACTERS = 1000
_NORMAL, _WARNING = "Normal", "Warning"
_OURS = frozenset({Outcome.INFRA_FAILED.value, Outcome.GRADER_ERROR.value})


@dataclass(frozen=True, slots=True)
class RunEvent:
    """One Event. ``what`` makes its name: two of one ``what`` are the same."""

    type: str
    reason: str
    message: str
    what: str


def run_events(before: EvalRunStatus, after: EvalRunStatus) -> Iterator[RunEvent]:
    """What ``after`` says and ``before`` did not."""
    told = {condition.type: condition for condition in before.conditions}
    for condition in after.conditions:
        known = told.get(condition.type)
        if known is None or known.status != condition.status:
            yield from _of_condition(condition, after)
    yield from _faults(before, after)


def event_body(run: SeenRun, event: RunEvent, now: datetime) -> Mapping[str, Any]:
    """The Event as Kubernetes keeps it: for an hour, where nobody says otherwise."""
    identity, at = run.identity, rfc3339(now)
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{identity.name}.{digest(identity.uid, event.reason, event.what)}",
            "namespace": identity.namespace,
        },
        "involvedObject": {
            "apiVersion": API_VERSION,
            "kind": "EvalRun",
            "name": identity.name,
            "namespace": identity.namespace,
            "uid": identity.uid,
        },
        "type": event.type,
        "reason": event.reason,
        "message": cut(event.message, _MESSAGE_CHARACTERS),
        "source": {"component": "proctor"},
        "firstTimestamp": at,
        "lastTimestamp": at,
        "count": 1,
    }


def _of_condition(condition: Condition, status: EvalRunStatus) -> Iterator[RunEvent]:
    what = f"{condition.type}={condition.status}"
    match what:
        case "Accepted=True":
            trials = f"{status.trials.total} trials, agent {status.agent}"
            yield RunEvent(_NORMAL, "Accepted", trials, what)
        case "Accepted=False":
            yield RunEvent(_WARNING, "Rejected", condition.message, what)
        case "BudgetExceeded=True":
            yield RunEvent(_WARNING, condition.reason, condition.message, what)
        case "Complete=True" if condition.reason != "Rejected":  # that has been said, with why
            well = not (status.trials.errored or status.gate == "Failed")
            yield RunEvent(_NORMAL if well else _WARNING, condition.reason, _ended(status), what)


def _ended(status: EvalRunStatus) -> str:
    counts = status.trials
    gate = f", gate {status.gate}" if status.gate else ""
    score = "none" if status.score is None else ratio_text(status.score)
    return (
        f"{counts.passed} of {counts.total} trials passed, {counts.failed} failed, "
        f"{counts.errored} without a score; score {score}{gate}"
    )


def _faults(before: EvalRunStatus, after: EvalRunStatus) -> Iterator[RunEvent]:
    """The first trials that the platform, and not the agent, kept from a score."""
    known = {one for one in before.failing if one.outcome in _OURS}
    found = [one for one in after.failing if one.outcome in _OURS][:MOST_FAULTS]
    for one in found:
        if one not in known:
            trial = f"{one.task}/{one.variant}/{one.repeat}"
            yield RunEvent(_WARNING, one.outcome, f"{trial}: {one.reason}", trial)
