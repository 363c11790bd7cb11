"""What the operator remembers of a run between passes, and may forget at any time.

Nothing in it is needed for correctness: after a restart it fills again, at the price of a few
requests.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime

from proctor.api.usage import Bill, RunSpending
from proctor.controller.planned import PlannedRun
from proctor.controller.seen import SeenPod
from proctor.engine.model import Waiting

AttemptKey = tuple[str, int]
"""Name of the EvalTrial, and number of the attempt."""


@dataclass(slots=True)
class RunMemory:
    """Of one run.

    Args:
        run_uid: Of that run: another one of its name has another memory.
        planned: The plan of generation ``generation``; None: it is to be made, or made again.
        used_at: When it was last asked for.
        made: Names of ConfigMaps, and of the ServiceAccount, that are known to be as they should.
        refused: Attempts whose pod the API server will never accept.
        stuck: Why nothing can be made for now, or None.
        unfit_since: Since when the ServiceAccount has kept everything from being made, or None.
        pods: Pods of attempts that have not ended, as the last pass saw them.
        changed: What became of pods that are not what was asked for, and may not be so.
        vanished: Those of them that are gone, without our doing.
        bills: What the gateway counted; None: it could not say.
        spending: What the gateway last said of the whole run; None: nothing yet.
        spending_at: When it was last asked.
        patched_at: When the run's status was last written.
    """

    run_uid: str
    generation: int = -1
    planned: PlannedRun | None = None
    used_at: datetime | None = None
    made: set[str] = field(default_factory=set)
    refused: dict[AttemptKey, Waiting] = field(default_factory=dict)
    stuck: Waiting | None = None
    unfit_since: datetime | None = None
    pods: dict[str, SeenPod] = field(default_factory=dict)
    changed: dict[AttemptKey, tuple[str, ...]] = field(default_factory=dict)
    vanished: dict[AttemptKey, SeenPod] = field(default_factory=dict)
    bills: dict[AttemptKey, Bill | None] = field(default_factory=dict)
    spending: RunSpending | None = None
    spending_at: datetime | None = None
    patched_at: datetime | None = None


def bound_plans(memories: Iterable[RunMemory], newest: RunMemory, most_bytes: int) -> None:
    """Let go of the plans that nobody asked for longest, until all together are small enough.

    ``most_bytes`` are of their orders; a plan takes 1.8 times as much memory (measured with
    bundles at their limit). ``newest`` stays, and so does what could come out otherwise the next
    time.
    """
    plans = [(one, one.planned) for one in memories if one.planned is not None]
    left = sum(planned.orders.size_bytes for _, planned in plans)
    for memory, planned in sorted(plans, key=_last_use):
        if left <= most_bytes:
            return
        if memory is not newest and planned.can_be_made_again:
            memory.planned = None
            left -= planned.orders.size_bytes


def _last_use(plan: tuple[RunMemory, PlannedRun]) -> datetime:
    return plan[0].used_at or datetime.min.replace(tzinfo=UTC)
