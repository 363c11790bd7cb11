"""Names, labels and paths that the controller shares with gateway, runner and chart (pure)."""

import hashlib
from dataclasses import dataclass

from proctor.api.base import GROUP
from proctor.api.results import AUDIENCE
from proctor.engine.model import TrialId

RUN_LABEL = f"{GROUP}/run"
RUN_UID_LABEL = f"{GROUP}/run-uid"
TRIAL_LABEL = f"{GROUP}/trial"
ATTEMPT_LABEL = f"{GROUP}/attempt"
EGRESS_LABEL = f"{GROUP}/egress"
FETCH_LABEL, FETCHES_GIT = f"{GROUP}/fetches", "Git"
"""Label of a trial's pod whose ``stage`` fetches a repository through the egress proxy."""

MANAGED_BY_LABEL = "app.kubernetes.io/managed-by"
MANAGED_BY = "proctor"
SELECTOR = f"{MANAGED_BY_LABEL}={MANAGED_BY},{RUN_UID_LABEL}"
"""Selects what belongs to a run: the operator's own pods lack the second label."""

EGRESS_PASS = f"{GROUP}/egress-pass"
"""Annotation of a trial's pod in mode AllowList: what it shows the egress proxy."""

FETCH_PASS = f"{GROUP}/fetch-pass"
"""Annotation of such a pod: what ``stage`` alone shows the egress proxy."""

FINALIZER = f"{GROUP}/verdict"
"""On a trial's pod until its verdict is in the EvalTrial."""

POD_DIGEST = f"{GROUP}/pod-digest"
"""Annotation of an EvalTrial: shape of its current attempt's pod, as it was asked for."""

POD_CHANGES = f"{GROUP}/pod-changes"
"""Annotation of an EvalTrial: an attempt's number, then what admission changed in its pod."""

SERVICE_ACCOUNT = "proctor-trial"
AGENT_AUDIENCE = "proctor-gateway-agent"
JUDGE_AUDIENCE = "proctor-gateway-judge"
RESULTS_AUDIENCE = AUDIENCE

STAGE, FILL, AGENT, CHECKS, GRADE = "stage", "fill", "agent", "checks", "grade"
LOOP = "loop"
PHASES = frozenset({STAGE, FILL, AGENT, CHECKS, GRADE})
"""Containers that run one after the other; ``loop`` and services run beside them."""


@dataclass(frozen=True, slots=True)
class TrialObject:
    """The EvalTrial that a pod belongs to."""

    name: str
    uid: str
    namespace: str
    run_name: str
    run_uid: str
    trial: TrialId


def trial_name(run_name: str, run_uid: str, trial: TrialId) -> str:
    """Name of an EvalTrial; the run's UID is in it, so that a re-created run meets no old pods."""
    return f"{run_name}-{digest(run_uid, trial.task, trial.variant, str(trial.repeat))}"


def pod_name(trial: str, attempt: int) -> str:
    """Name of the pod of an attempt, which counts from 1."""
    return f"{trial}-{attempt}"


def run_labels(run_name: str, run_uid: str) -> dict[str, str]:
    """Labels of everything that belongs to a run."""
    return {MANAGED_BY_LABEL: MANAGED_BY, RUN_LABEL: run_name, RUN_UID_LABEL: run_uid}


def digest(*parts: str) -> str:
    """Ten hexadecimal digits over all parts."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:10]
