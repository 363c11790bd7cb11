"""Where every event ends: one idempotent pass over one run.

Observe, decide, apply, report. It never looks at the event that brought it here.
"""

import contextlib
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from proctor.api.errors import PlatformError, SpecError
from proctor.api.run_status import EvalRunStatus
from proctor.controller.admitted import Admitted
from proctor.controller.apply import Applier
from proctor.controller.bundles import Bundles, read_bundles
from proctor.controller.cluster import (
    EVAL_RUNS,
    EVENTS,
    Cluster,
    ClusterError,
    MissingError,
    PreconditionError,
)
from proctor.controller.config_maps import LOOK_AGAIN, AwaitedError, read_config_maps
from proctor.controller.due import Due
from proctor.controller.lookout import look_again_at
from proctor.controller.memory import RunMemory
from proctor.controller.merge import merge_form
from proctor.controller.network import Network
from proctor.controller.observe import observe_run
from proctor.controller.planned import PlannedRun, plan_seen_run, same_plan
from proctor.controller.run_events import event_body, run_events
from proctor.controller.seen import RunKey, SeenRun
from proctor.controller.settings import OperatorSettings
from proctor.controller.tidy import abandoned, releasing, tidying
from proctor.controller.verify import SPENDING_INTERVAL, Verifier
from proctor.controller.watched import Watched
from proctor.engine.decide import STUCK_RETRY, decide
from proctor.engine.instants import instant
from proctor.engine.model import Decision, Observed
from proctor.engine.status import awaiting_status, rejected_status, run_status
from proctor.metrics.trials import OperatorMetrics
from proctor.planning.kinds import Kinds
from proctor.planning.manifest import parse_spec

log = logging.getLogger(__name__)

STATUS_INTERVAL = timedelta(seconds=1)
"""A run's status is written at most this often."""

PROGRESS_INTERVAL = timedelta(seconds=30)
"""And at most this often when only its spending has changed."""


@dataclass(frozen=True, slots=True)
class Reconciler:
    """Brings runs closer to their specs.

    Args:
        priced: Whether a model has a price.
        now: The clock.
        memories: What is remembered of runs; may be empty at any time.
    """

    cluster: Cluster
    watched: Watched
    applier: Applier
    verifier: Verifier
    admitted: Admitted
    network: Network
    bundles: Bundles
    settings: OperatorSettings
    metrics: OperatorMetrics
    kinds: Kinds
    priced: Callable[[str], bool]
    due: Due
    now: Callable[[], datetime]
    memories: dict[RunKey, RunMemory] = field(default_factory=dict)

    async def reconcile(self, key: RunKey) -> None:
        """Bring one run a step closer to its spec; safe to repeat at any point.

        Raises:
            ClusterError: A request failed; come again.
        """
        run = await self.verifier.existing_run(key)
        if run is None:
            await self._let_go(key)
            return
        if run.is_complete:
            self.memories.pop(key, None)
            await self._abandon(key)
            await self._expire(run)
        else:
            await self._advance(run, self._memory(run))
        await self._tidy(key)
        suite = run.spec.get("suite") or key.name
        self.metrics.run_seen(key.namespace, key.name, suite, run.status)

    async def _advance(self, run: SeenRun, memory: RunMemory) -> None:
        """One step of a run that has not ended."""
        try:
            planned = await self._planned(run, memory)
        except AwaitedError as error:
            await self._await(run, error, memory)
            return
        except SpecError as error:
            now = self.now()
            status = rejected_status(
                error.problems, generation=run.generation, now=now, previous=run.status
            )
            await self._report(run, status, memory)
            return
        await self._keep_network(planned)
        observed = await self._observe(run, planned, memory)
        decision = decide(observed)
        await self.applier.apply(planned, decision, memory, observed.now)
        status = run_status(
            observed,
            decision,
            generation=run.generation,
            previous=run.status,
            seed=planned.plan.seed,
            secrets=planned.plan.secrets,
            sources_digest=planned.sources_digest,
        )
        self._look_again(run.key, observed, decision, memory)
        await self._report(run, status, memory)

    def _memory(self, run: SeenRun) -> RunMemory:
        known = self.memories.get(run.key)
        if known is None or known.run_uid != run.identity.uid:
            known = self.memories[run.key] = RunMemory(run.identity.uid)
        return known

    async def _planned(self, run: SeenRun, memory: RunMemory) -> PlannedRun:
        if memory.planned is not None and memory.generation != run.generation:
            spec = parse_spec(run.spec)
            if same_plan(spec, memory.planned.spec):
                # Its sources need not be read again, which may be out of reach by now.
                memory.planned = replace(memory.planned, spec=spec)
                memory.generation = run.generation
        if memory.planned is None or memory.generation != run.generation:
            held = await read_config_maps(self.cluster, run, self.now())
            tasks = await read_bundles(self.bundles, run, self.now())
            offered = self.settings.network.egress_modes
            memory.planned = plan_seen_run(
                run, self.kinds, self.priced, offered, self.settings.trial, held, tasks
            )
            memory.generation = run.generation
        return memory.planned

    async def _await(self, run: SeenRun, awaited: AwaitedError, memory: RunMemory) -> None:
        """Say what the run waits for, and come back soon."""
        now = self.now()
        self.due.mark_at(run.key, now + LOOK_AGAIN)
        status = awaiting_status(
            str(awaited),
            awaited.reason,
            generation=run.generation,
            now=now,
            previous=run.status,
        )
        await self._report(run, status, memory)

    async def _observe(self, run: SeenRun, planned: PlannedRun, memory: RunMemory) -> Observed:
        await self.verifier.note_vanished(run.key, memory)
        await self.admitted.look(planned, memory)
        await self.verifier.fetch_spending(planned, memory, self.now())
        observed = self._look(run, planned, memory)
        if await self.verifier.fetch_bills(planned, observed, memory):
            observed = self._look(run, planned, memory)
        return observed

    def _look(self, run: SeenRun, planned: PlannedRun, memory: RunMemory) -> Observed:
        trials, pods = self.watched.trials.of(run.key), self.watched.pods.of(run.key)
        others = self.network.others(run.key.namespace, pods.values())
        return observe_run(run, planned, trials, pods, memory, self.now(), others)

    async def _keep_network(self, planned: PlannedRun) -> None:
        """Repair the policies of pods that exist; a start makes those of the ones to come."""
        if self.watched.pods.of(planned.key):
            cells = planned.plan.cells.values()
            modes, fetches = {cell.egress.mode for cell in cells}, any(c.fetches for c in cells)
            try:
                await self.network.keep(planned.key.namespace, modes, fetches=fetches)
            except PlatformError as error:
                # What trials left is taken nevertheless; the next start says why nothing starts.
                log.warning("%s/%s: %s", planned.key.namespace, planned.key.name, error)

    def _look_again(
        self, key: RunKey, observed: Observed, decision: Decision, memory: RunMemory
    ) -> None:
        """Come back when time alone changes something."""
        moments = [decision.wake_at, look_again_at(self.watched.pods.of(key), observed.now)]
        if memory.stuck is not None:
            moments.append(memory.stuck.since + STUCK_RETRY)
        if decision.start and (memory.stuck or memory.refused):
            moments.append(observed.now + STATUS_INTERVAL)  # to say why nothing started
        if decision.running and memory.spending_at is not None:
            moments.append(observed.now + SPENDING_INTERVAL)
        for moment in moments:
            if moment is not None and moment > observed.now:
                self.due.mark_at(key, moment)

    async def _report(self, run: SeenRun, status: EvalRunStatus, memory: RunMemory) -> None:
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

    async def _tidy(self, key: RunKey) -> None:
        trials, pods = self.watched.trials.of(key), self.watched.pods.of(key)
        await self.applier.tidy(tidying(pods, trials, self.settings.trial.finished_pods))

    async def _abandon(self, key: RunKey) -> None:
        trials, pods = self.watched.trials.of(key), self.watched.pods.of(key)
        await self.applier.tidy(abandoned(pods, trials))

    async def _let_go(self, key: RunKey) -> None:
        """The run is gone: keep none of its pods."""
        self.memories.pop(key, None)
        self.metrics.run_gone(key.namespace, key.name)
        await self.applier.tidy(releasing(self.watched.pods.of(key)))

    async def _expire(self, run: SeenRun) -> None:
        """Delete a run whose time after its end is over."""
        seconds, ended = run.spec.get("ttlSecondsAfterFinished"), run.status.completion_time
        if seconds is None or ended is None:
            return
        expires = instant(ended) + timedelta(seconds=seconds)
        if self.now() < expires:
            self.due.mark_at(run.key, expires)
            return
        identity = run.identity
        await self.cluster.delete(EVAL_RUNS, identity.namespace, identity.name, uid=identity.uid)


def _is_news(
    status: EvalRunStatus, before: EvalRunStatus, patched_at: datetime | None, now: datetime
) -> bool:
    """Whether a status is worth a write; spending alone is only now and then."""
    if status == before:
        return False
    if status.model_copy(update={"spending": before.spending}) != before:
        return True
    return patched_at is None or now >= patched_at + PROGRESS_INTERVAL
