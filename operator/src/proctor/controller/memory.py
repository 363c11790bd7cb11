"""What the operator remembers of a run between passes, and may forget at any time.

Nothing in it is needed for correctness: after a restart it fills again, at the price of a few
requests.
"""

from dataclasses import dataclass, field
from datetime import datetime

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
        planned: The plan of generation ``generation``.
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
