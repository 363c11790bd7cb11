"""Facts that the mirrors cannot tell for sure: asked for one by one, and only when it matters."""

import asyncio
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from proctor.api.usage import Bill
from proctor.controller.bills import Bills, NoBills
from proctor.controller.cluster import EVAL_RUNS, PODS, Cluster
from proctor.controller.harvested import HarvestedRun
from proctor.controller.memory import RunMemory
from proctor.controller.observe import is_over
from proctor.controller.planned import PlannedRun
from proctor.controller.seen import RunKey, SeenPod, SeenRun
from proctor.controller.watched import Watched
from proctor.engine.decide import end_reason
from proctor.engine.model import AttemptPhase, Observed, ObservedAttempt

SPENDING_INTERVAL = timedelta(seconds=5)
"""The gateway is asked for a run's spending at most this often."""


@dataclass(frozen=True, slots=True)
class Verifier:
    """Asks the cluster and the gateway."""

    cluster: Cluster
    watched: Watched
    bills: Bills

    async def existing_run(self, key: RunKey) -> SeenRun | None:
        """The run, if it exists and is to stay.

        Its watch may lose a deletion, so a run is asked for when its objects are being deleted:
        their finalizers must never outlive it.
        """
        run = self.watched.run(key)
        if run is None or run.identity.deleting is not None:
            return None
        trials, pods = self.watched.trials.of(key).values(), self.watched.pods.of(key).values()
        identities = [trial.identity for trial in trials] + [pod.identity for pod in pods]
        if all(identity.deleting is None for identity in identities):
            return run
        body = await self.cluster.get(EVAL_RUNS, key.namespace, key.name)
        if body is None or body["metadata"]["uid"] != run.identity.uid:
            self.watched.runs.remove(run)
        if body is not None:
            self.watched.runs.put(SeenRun.from_body(body))
        run = self.watched.run(key)
        return run if run is not None and run.identity.deleting is None else None

    async def note_vanished(self, key: RunKey, memory: RunMemory) -> None:
        """Remember pods that are gone although nobody recorded how they ended."""
        pods, trials = self.watched.pods.of(key), self.watched.trials.of(key)
        for name, pod in memory.pods.items():
            trial, now = trials.get(pod.trial), pods.get(name)
            if trial is None or is_over(trial, pod.attempt):
                continue
            if now is not None and now.identity.uid == pod.identity.uid:
                continue
            if now is not None or await self._is_gone(pod):
                memory.vanished[pod.trial, pod.attempt] = pod
        memory.pods = dict(self.watched.pods.of(key))

    async def fetch_bills(self, run: HarvestedRun, observed: Observed, memory: RunMemory) -> bool:
        """Ask what attempts without a verdict cost, once each; whether anything was asked."""
        lost = {
            (run.names[attempt.trial], attempt.number): attempt
            for attempt in observed.attempts
            if attempt.bill is None and _needs_bill(attempt, observed)
        }
        asked = [key for key in lost if key not in memory.bills]
        bills = await asyncio.gather(*(self._bill(run, lost[key]) for key in asked))
        memory.bills |= dict(zip(asked, bills, strict=True))
        return bool(asked)

    async def _bill(self, run: HarvestedRun, attempt: ObservedAttempt) -> Bill | None:
        """Its bill, in the run's mode also when it made no call."""
        trial = self.watched.trials.of(run.key)[run.names[attempt.trial]]
        bill = await self.bills.bill(
            run.uid, trial.identity.uid, attempt.number, attempt.created_at
        )
        if bill is None:
            return None
        over = attempt.phase is AttemptPhase.ENDED
        mode = run.cell(attempt.trial).models.value
        return replace(bill, mode=mode, cost_complete=bill.cost_complete and over)

    async def fetch_spending(self, planned: PlannedRun, memory: RunMemory, now: datetime) -> None:
        """Ask what the run has used so far, now and then; an answer that does not come is no news.

        Only runs that ask models: of others the gateway knows nothing.
        """
        asked_at = memory.spending_at
        if asked_at is not None and now < asked_at + SPENDING_INTERVAL:
            return
        if isinstance(self.bills, NoBills):
            return
        if not any(cell.needs_model for cell in planned.plan.cells.values()):
            return
        memory.spending_at = now
        memory.spending = await self.bills.spending(planned.uid) or memory.spending

    async def _is_gone(self, pod: SeenPod) -> bool:
        """Whether no pod with this UID exists; one that does goes back into the mirror."""
        identity = pod.identity
        body = await self.cluster.get(PODS, identity.namespace, identity.name)
        if body is None or body["metadata"]["uid"] != identity.uid:
            return True
        seen = SeenPod.from_body(body)
        if seen is not None:
            self.watched.pods.put(seen)
        return False


def _needs_bill(attempt: ObservedAttempt, observed: Observed) -> bool:
    """Whether it left no verdict, or is about to be stopped before it can leave one."""
    if attempt.failure is not None:
        return True
    stopping = observed.suspend or end_reason(observed) is not None
    is_cut_short = attempt.phase is AttemptPhase.RUNNING and attempt.trial not in observed.recorded
    return stopping and is_cut_short
