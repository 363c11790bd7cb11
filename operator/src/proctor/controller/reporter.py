"""Write a run's status, and make Events of what is new in it."""

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from proctor.api.run_status import EvalRunStatus
from proctor.controller.cluster import (
    EVAL_RUNS,
    EVENTS,
    Cluster,
    ClusterError,
    MissingError,
    PreconditionError,
)
from proctor.controller.due import Due
from proctor.controller.memory import RunMemory
from proctor.controller.merge import merge_form
from proctor.controller.run_events import event_body, run_events
from proctor.controller.seen import SeenRun
from proctor.controller.watched import Watched

STATUS_INTERVAL = timedelta(seconds=1)
"""A run's status is written at most this often."""

PROGRESS_INTERVAL = timedelta(seconds=30)
"""And at most this often when only its spending has changed."""


@dataclass(frozen=True, slots=True)
class Reporter:
    """Tells a cluster what became of its runs."""

    cluster: Cluster
    watched: Watched
    due: Due
    now: Callable[[], datetime]

    async def report(self, run: SeenRun, status: EvalRunStatus, memory: RunMemory) -> None:
        """Write the status if it says anything new, and not too often."""
        now = self.now()
        if not _is_news(status, run.status, memory.patched_at, now):
            return
        if memory.patched_at is not None and now < memory.patched_at + STATUS_INTERVAL:
            self.due.mark_at(run.key, memory.patched_at + STATUS_INTERVAL)
            return
        identity = run.identity
        patch = {"metadata": {"uid": identity.uid}, "status": merge_form(status)}
        try:
            body = await self.cluster.patch(
                EVAL_RUNS, identity.namespace, identity.name, patch, status=True
            )
        except (MissingError, PreconditionError):
            self.watched.runs.remove(run)
            return
        memory.patched_at = now
        self.watched.runs.put(SeenRun.from_body(body))
        await self._tell(run, status, now)

    async def _tell(self, run: SeenRun, status: EvalRunStatus, now: datetime) -> None:
        """Make Events of what is new; the status says it too, so a failure is no matter."""
        for event in run_events(run.status, status):
            with contextlib.suppress(ClusterError):
                await self.cluster.create(EVENTS, event_body(run, event, now))


def _is_news(
    status: EvalRunStatus, before: EvalRunStatus, patched_at: datetime | None, now: datetime
) -> bool:
    """Whether a status is worth a write; spending alone is only now and then."""
    if status == before:
        return False
    if status.model_copy(update={"spending": before.spending}) != before:
        return True
    return patched_at is None or now >= patched_at + PROGRESS_INTERVAL
