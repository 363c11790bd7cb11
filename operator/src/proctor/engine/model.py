"""The engine's nouns: what was observed of a run, and what to do next.

Both launchers map their own evidence (pods, child processes) to these values; nothing else
differs between them. All instants are UTC; ``now`` is always handed in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from proctor.api.conditions import Reason
from proctor.api.container import SandboxUser
from proctor.api.evalrun import FailurePolicy, Gate
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.outcome import FailureClass
from proctor.api.termination import TrialVerdict
from proctor.api.usage import Bill, RunSpending
from proctor.engine.network import NetworkFacts
from proctor.planning.model import Cell, RunPlan
from proctor.planning.model import TrialId as TrialId


@dataclass(frozen=True, slots=True)
class DesiredTrial:
    """A trial that the run consists of, with what its status says of it.

    Args:
        criteria: Names of its criteria, in order: verdicts speak of them by index.
        user: Which user its containers run as.
    """

    id: TrialId
    agent: str
    model: str | None
    criteria: tuple[str, ...]
    user: SandboxUser = SandboxUser.NON_ROOT


def desired_trials(plan: RunPlan) -> tuple[DesiredTrial, ...]:
    """All trials of a plan, in the order of their start."""
    return tuple(_desired(trial, plan.cells[trial.task, trial.variant]) for trial in plan.trials)


def _desired(trial: TrialId, cell: Cell) -> DesiredTrial:
    return DesiredTrial(trial, cell.agent, cell.model, cell.criteria, cell.user)


class AttemptPhase(StrEnum):
    """Where an attempt is."""

    WAITING = "Waiting"  # made, but nothing of it runs yet
    RUNNING = "Running"
    ENDED = "Ended"


@dataclass(frozen=True, slots=True)
class Waiting:
    """Why an attempt does not start.

    Args:
        fatal: No waiting will help (a bad image name, a refused pod).
    """

    reason: Reason
    message: str
    since: datetime
    fatal: bool = False
    failure_class: FailureClass = FailureClass.CAPACITY


@dataclass(frozen=True, slots=True)
class Failure:
    """An attempt that ended without a verdict.

    Args:
        reason: One CamelCase word, such as ``Evicted`` or ``OOMKilled``.
        message: The launcher's evidence, for people.
        started: Whether an agent process may have started: then only a disruption that the
            platform reports is infra, and anything else is the agent's.
    """

    failure_class: FailureClass
    reason: str
    message: str
    started: bool = False


@dataclass(frozen=True, slots=True)
class ObservedAttempt:
    """One attempt that exists, or existed, as its launcher sees it.

    ``verdict`` or ``failure`` is set exactly when ``phase`` is ENDED. ``uid`` is the pod's UID,
    or the process's number locally.
    """

    trial: TrialId
    number: int
    phase: AttemptPhase
    uid: str
    created_at: datetime
    started_at: datetime | None = None
    waiting: Waiting | None = None
    verdict: TrialVerdict | None = None
    failure: Failure | None = None
    bill: Bill | None = None
    """What the gateway counted for an attempt without a verdict; None: not known."""
    pod_changes: tuple[str, ...] = ()
    """What admission changed in its pod, and the settings allow."""


@dataclass(frozen=True, slots=True)
class ClosedAttempt:
    """An attempt that ended without ending its trial: a line of its history.

    ``failure_class`` is None when it was ended by ``suspend``: that uses up no retry.
    """

    number: int
    uid: str
    failure_class: FailureClass | None
    reason: str
    message: str
    bill: Bill | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """All that a decision about a run rests on.

    Args:
        desired: All trials, in the order in which they start.
        attempts: Attempts whose launcher still shows them; at most one alive for a trial.
        closed: History of trials that have not ended, by trial.
        recorded: Final status of trials that ended; the truth about them.
        start_time: When the run's first pass accepted it; None before that.
        stuck: Set when attempts could not even be made (quota, admission), with the reason.
        unfit_since: Since when that is for a reason that no time mends, only somebody; None: it is
            not so.
        budget_usd: What the run may spend; None: no limit.
        budget_was_used_up: Whether the run's status says so already: then it stays so.
        spending: What the gateway counted so far, trials that run included; None: not known.
        rest: Trials that belong to the run besides and are known by number only, by variant;
            nothing of them has run.
        refused: Whether the run cannot go on as it is: then it ends.
    """

    now: datetime
    desired: Sequence[DesiredTrial]
    attempts: Sequence[ObservedAttempt]
    closed: Mapping[TrialId, Sequence[ClosedAttempt]]
    recorded: Mapping[TrialId, EvalTrialStatus]
    parallelism: int
    policy: FailurePolicy
    gate: Gate | None
    start_time: datetime | None = None
    suspend: bool = False
    cancelled: bool = False
    active_deadline_seconds: int | None = None
    stuck: Waiting | None = None
    unfit_since: datetime | None = None
    budget_usd: Decimal | None = None
    spending: RunSpending | None = None
    budget_was_used_up: bool = False
    network: NetworkFacts = field(default_factory=NetworkFacts)
    rest: Mapping[str, int] = field(default_factory=dict)
    refused: bool = False

    @property
    def total(self) -> int:
        """All trials of the run."""
        return len(self.desired) + sum(self.rest.values())


@dataclass(frozen=True, slots=True)
class Start:
    """Start this attempt of this trial."""

    trial: TrialId
    number: int


@dataclass(frozen=True, slots=True)
class Stop:
    """End this attempt, whatever it does."""

    trial: TrialId
    number: int
    reason: str


@dataclass(frozen=True, slots=True)
class Close:
    """Write this attempt into the trial's history: another one follows."""

    trial: TrialId
    attempt: ClosedAttempt


@dataclass(frozen=True, slots=True)
class Record:
    """The trial has ended: write its status, once."""

    trial: TrialId
    status: EvalTrialStatus


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do next, in this order: record, close, stop, start.

    With the decision already carried out, the next one is empty.

    Args:
        complete: The reason of ``Complete=True``, or None while the run goes on.
        waiting: The most telling reason why something waits, for the conditions.
        wake_at: When to look again although nothing changed; None: only events matter.
        running: Attempts that run and go on; the new ones not counted.
    """

    record: tuple[Record, ...] = ()
    close: tuple[Close, ...] = ()
    stop: tuple[Stop, ...] = ()
    start: tuple[Start, ...] = ()
    complete: Reason | None = None
    waiting: Waiting | None = None
    wake_at: datetime | None = None
    running: int = 0

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to carry out."""
        return not (self.record or self.close or self.stop or self.start)
