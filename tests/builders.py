"""Builders with defaults, so that a test shows only what matters."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from proctor.api.evalrun import FailurePolicy
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.outcome import FailureClass, Outcome
from proctor.api.termination import TrialVerdict
from proctor.api.usage import Bill, Usage
from proctor.engine.model import (
    AttemptPhase,
    DesiredTrial,
    Failure,
    Observed,
    ObservedAttempt,
    TrialId,
)

NOON = datetime(2026, 1, 31, 12, 0, tzinfo=UTC)


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


def a_trial_id(number: int = 0) -> TrialId:
    return TrialId(f"task-{number}", "default", 0)


def a_desired(number: int = 0, **changes: Any) -> DesiredTrial:
    fields: dict[str, Any] = {
        "id": a_trial_id(number),
        "agent": "mini",
        "model": "model-1",
        "criteria": ("first",),
    }
    return DesiredTrial(**{**fields, **changes})


def a_bill(**changes: Any) -> Bill:
    fields: dict[str, Any] = {
        "calls": 2,
        "usage": Usage(input=100, output=20),
        "cost_usd": Decimal("0.01"),
    }
    return Bill(**{**fields, **changes})


def a_verdict(**changes: Any) -> TrialVerdict:
    fields: dict[str, Any] = {
        "trial_uid": "uid-0",
        "attempt": 1,
        "outcome": Outcome.PASSED,
        "score": Decimal(1),
        "scores": (Decimal(1),),
        "passed": (True,),
        "bill": a_bill(),
        "turns": 2,
        "agent_ms": 1500,
        "checks_ms": None,
        "grade_ms": 300,
        "digest": "ab" * 32,
    }
    return TrialVerdict(**{**fields, **changes})


def an_attempt(trial: int = 0, /, **changes: Any) -> ObservedAttempt:
    """Of trial number ``trial``: running since NOON unless said otherwise."""
    fields: dict[str, Any] = {
        "trial": a_trial_id(trial),
        "number": 1,
        "phase": AttemptPhase.RUNNING,
        "uid": f"pod-{trial}",
        "created_at": NOON,
        "started_at": NOON + seconds(2),
    }
    return ObservedAttempt(**{**fields, **changes})


def an_ended_attempt(trial: int = 0, /, **changes: Any) -> ObservedAttempt:
    """Of trial number ``trial``: passed, unless a failure is given."""
    verdict = None if "failure" in changes else a_verdict()
    return an_attempt(trial, phase=AttemptPhase.ENDED, **{"verdict": verdict, **changes})


def a_failure(failure_class: FailureClass = FailureClass.INFRA, **changes: Any) -> Failure:
    fields: dict[str, Any] = {"reason": "Evicted", "message": "the node was low on memory"}
    return Failure(failure_class, **{**fields, **changes})


def an_observed(trials: int = 1, **changes: Any) -> Observed:
    fields: dict[str, Any] = {
        "now": NOON + seconds(10),
        "desired": [a_desired(number) for number in range(trials)],
        "attempts": [],
        "closed": {},
        "recorded": {},
        "parallelism": 10,
        "policy": FailurePolicy(),
        "gate": None,
        "start_time": NOON,
    }
    return Observed(**{**fields, **changes})


def a_passed_status(**changes: Any) -> EvalTrialStatus:
    fields: dict[str, Any] = {
        "outcome": "Passed",
        "score": Decimal(1),
        "cost_usd": Decimal("0.01"),
    }
    return EvalTrialStatus(**{**fields, **changes})
