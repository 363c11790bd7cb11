"""What is kept of an object once its body is dropped: the few fields that decisions rest on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from pydantic import ValidationError

from proctor.api.evaltrial import EvalTrialSpec, EvalTrialStatus
from proctor.api.run_status import EvalRunStatus
from proctor.controller.cluster import Body
from proctor.controller.names import (
    ATTEMPT_LABEL,
    FILL,
    GRADE,
    LOOP,
    PHASES,
    POD_CHANGES,
    POD_DIGEST,
    RUN_LABEL,
    RUN_UID_LABEL,
    STAGE,
    TRIAL_LABEL,
)
from proctor.controller.shape import owner_uid, shape_digest
from proctor.engine.instants import instant


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """Which EvalRun."""

    namespace: str
    name: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Which object, and which version of it.

    Args:
        version: The resource version as a number: a later one of the same UID is newer.
        deleting: When its deletion was asked for plus its grace, or None.
    """

    namespace: str
    name: str
    uid: str
    version: int
    created_at: datetime
    deleting: datetime | None

    @classmethod
    def from_body(cls, body: Body) -> Self:
        """Read ``metadata``."""
        meta = body["metadata"]
        deleting = meta.get("deletionTimestamp")
        return cls(
            namespace=meta["namespace"],
            name=meta["name"],
            uid=meta["uid"],
            version=int(meta["resourceVersion"]),
            created_at=instant(meta["creationTimestamp"]),
            deleting=instant(deleting) if deleting else None,
        )


@dataclass(frozen=True, slots=True)
class SeenRun:
    """An EvalRun. ``spec`` is raw, because it may be invalid; of a complete run little is kept."""

    identity: Identity
    generation: int
    spec: Mapping[str, Any]
    status: EvalRunStatus

    @property
    def key(self) -> RunKey:
        """Which run."""
        return RunKey(self.identity.namespace, self.identity.name)

    @property
    def is_complete(self) -> bool:
        """Whether it has ended; nothing of it starts ever again."""
        return any(c.type == "Complete" and c.status == "True" for c in self.status.conditions)

    @classmethod
    def from_body(cls, body: Body) -> Self:
        """Read an EvalRun; a status that cannot be read counts as none."""
        run = cls(
            Identity.from_body(body),
            int(body["metadata"].get("generation", 0)),
            body.get("spec") or {},
            _run_status(body),
        )
        if not run.is_complete:
            return run
        kept = {key: value for key, value in run.spec.items() if key in _OF_COMPLETE_RUNS}
        return cls(run.identity, run.generation, kept, run.status)


@dataclass(frozen=True, slots=True)
class SeenTrial:
    """An EvalTrial, with the run that it says it belongs to.

    ``pod_digest`` is the shape of its current attempt's pod, as it was asked for, or with the
    ``pod_changes`` that admission made to it and the settings allow.
    """

    identity: Identity
    run: RunKey
    run_uid: str
    spec: EvalTrialSpec
    status: EvalTrialStatus
    pod_digest: str
    pod_changes: tuple[str, ...] = ()

    @classmethod
    def from_body(cls, body: Body) -> Self | None:
        """Read an EvalTrial; None when it is not one of ours."""
        labels = body["metadata"].get("labels") or {}
        notes = body["metadata"].get("annotations") or {}
        try:
            spec = EvalTrialSpec.model_validate(body["spec"])
            return cls(
                Identity.from_body(body),
                RunKey(body["metadata"]["namespace"], labels[RUN_LABEL]),
                labels[RUN_UID_LABEL],
                spec,
                EvalTrialStatus.model_validate(body.get("status") or {}),
                notes.get(POD_DIGEST, ""),
                _changes(notes.get(POD_CHANGES, ""), spec.attempt),
            )
        except (KeyError, ValidationError):
            return None


@dataclass(frozen=True, slots=True)
class ContainerState:
    """Where a container is: exactly one of waiting, running and terminated.

    Args:
        reason: Of waiting or terminated; empty while it runs.
        message: Why it waits, or, of ``stage``, ``fill`` and ``grade``, its termination message.
        exit_code: None unless it terminated.
        restarts: How often it was started again; only sidecars are.
    """

    name: str
    reason: str
    message: str
    exit_code: int | None
    started_at: datetime | None
    restarts: int = 0

    @property
    def has_started(self) -> bool:
        """Whether a process of it ran, or still runs."""
        return self.started_at is not None


@dataclass(frozen=True, slots=True)
class PodCondition:
    """A condition of a pod that matters here."""

    status: str
    reason: str
    message: str
    since: datetime | None


@dataclass(frozen=True, slots=True)
class SeenPod:
    """A trial's pod.

    Args:
        digest: Its shape.
        owner: UID of its EvalTrial.
        labels: All of them: policies select by any.
    """

    identity: Identity
    run: RunKey
    run_uid: str
    trial: str
    attempt: int
    phase: str
    reason: str
    message: str
    node: str
    finalizers: tuple[str, ...]
    conditions: Mapping[str, PodCondition]
    containers: Mapping[str, ContainerState]
    digest: str
    owner: str
    labels: Mapping[str, str]

    @property
    def phases(self) -> Sequence[ContainerState]:
        """The containers that run one after the other, in their order."""
        return [state for state in self.containers.values() if state.name in PHASES]

    @property
    def services(self) -> Sequence[ContainerState]:
        """The containers that are not ours, and run beside those that are."""
        ours = PHASES | {LOOP}
        return [state for state in self.containers.values() if state.name not in ours]

    @classmethod
    def from_body(cls, body: Body) -> Self | None:
        """Read a pod; None when its labels are not those of a trial's pod."""
        meta, status = body["metadata"], body.get("status") or {}
        labels = meta.get("labels") or {}
        attempt = labels.get(ATTEMPT_LABEL, "")
        if not attempt.isdigit() or not {TRIAL_LABEL, RUN_LABEL, RUN_UID_LABEL} <= labels.keys():
            return None
        return cls(
            identity=Identity.from_body(body),
            run=RunKey(meta["namespace"], labels[RUN_LABEL]),
            run_uid=labels[RUN_UID_LABEL],
            trial=labels[TRIAL_LABEL],
            attempt=int(attempt),
            phase=status.get("phase", "Pending"),
            reason=status.get("reason", ""),
            message=status.get("message", ""),
            node=body["spec"].get("nodeName", ""),
            finalizers=tuple(meta.get("finalizers") or ()),
            conditions=_conditions(status.get("conditions") or ()),
            containers={
                one["name"]: _container(one)
                for group in ("initContainerStatuses", "containerStatuses")
                for one in status.get(group) or ()
            },
            digest=shape_digest(body),
            owner=owner_uid(body),
            labels=labels,
        )


_OF_COMPLETE_RUNS = frozenset({"ttlSecondsAfterFinished", "suite"})


def _changes(note: str, attempt: int) -> tuple[str, ...]:
    """Those of the current attempt; an earlier one's say nothing of it."""
    number, *changes = note.split("\n")
    return tuple(changes) if number == str(attempt) else ()


def _run_status(body: Body) -> EvalRunStatus:
    try:
        return EvalRunStatus.model_validate(body.get("status") or {})
    except ValidationError:
        return EvalRunStatus()


def _conditions(conditions: Sequence[Mapping[str, Any]]) -> dict[str, PodCondition]:
    return {
        one["type"]: PodCondition(
            one["status"],
            one.get("reason", ""),
            one.get("message", ""),
            _instant(one.get("lastTransitionTime")),
        )
        for one in conditions
        if one["type"] in _TELLING
    }


NEVER_STARTED = frozenset({"StartError", "ContainerCannotRun"})
"""Why a container terminated before any process of its image ran."""

_TOLD = frozenset({STAGE, FILL, GRADE})

_TELLING = frozenset({"PodScheduled", "DisruptionTarget", "PodReadyToStartContainers"})


def _container(one: Mapping[str, Any]) -> ContainerState:
    state = one.get("state") or {}
    ended, waiting = state.get("terminated"), state.get("waiting") or {}
    running = state.get("running") or {}
    # An agent writes its own termination message. What runs before it, or never started, cannot.
    told = ended and (one["name"] in _TOLD or ended.get("reason") in NEVER_STARTED)
    message = ended.get("message", "") if ended and told else ""
    return ContainerState(
        name=one["name"],
        reason=(ended or waiting).get("reason", ""),
        message=message or waiting.get("message", ""),
        exit_code=ended.get("exitCode") if ended else None,
        started_at=_instant((ended or running).get("startedAt")),
        restarts=one.get("restartCount", 0),
    )


def _instant(text: str | None) -> datetime | None:
    return instant(text) if text else None
