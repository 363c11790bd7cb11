"""Where every event ends: one idempotent pass over one run.

Observe, decide, apply, report. It never looks at the event that brought it here.
"""

import logging
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from proctor.api.egress import EgressMode
from proctor.api.errors import PlatformError, SpecError
from proctor.api.run_status import EvalRunStatus
from proctor.controller.admitted import Admitted
from proctor.controller.apply import Applier
from proctor.controller.bundles import Bundles, read_bundles
from proctor.controller.cluster import EVAL_RUNS, Cluster
from proctor.controller.config_maps import LOOK_AGAIN, AwaitedError, read_config_maps
from proctor.controller.due import Due
from proctor.controller.harvested import HarvestedRun
from proctor.controller.lookout import look_again_at
from proctor.controller.memory import RunMemory, bound_plans
from proctor.controller.network import Network
from proctor.controller.observe import observe_run
from proctor.controller.planned import PlannedRun, plan_seen_run, same_plan
from proctor.controller.remains import needed_policies, own_trials, remaining_run
from proctor.controller.reporter import STATUS_INTERVAL, Reporter
from proctor.controller.seen import RunKey, SeenRun
from proctor.controller.settings import OperatorSettings
from proctor.controller.tidy import abandoned, releasing, tidying
from proctor.controller.verify import SPENDING_INTERVAL, Verifier
from proctor.controller.watched import Watched
from proctor.engine.decide import STUCK_RETRY, decide
from proctor.engine.instants import instant
from proctor.engine.model import Decision, Observed
from proctor.engine.status import awaiting_status, rejected_status, remaining_status, run_status
from proctor.metrics.trials import OperatorMetrics
from proctor.planning.kinds import Kinds
from proctor.planning.manifest import parse_spec

log = logging.getLogger(__name__)


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
    reporter: Reporter
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
        started = run.status.start_time is not None or bool(
            own_trials(run, self.watched.trials.of(run.key))
        )
        try:
            planned = await self._planned(run, memory, started=started)
        except AwaitedError as error:
            status = await self._await(run, error, memory, started=started)
        except SpecError as error:
            status = await self._refuse(run, error, memory, started=started)
        else:
            status = await self._step(run, planned, memory)
        await self.reporter.report(run, status, memory)

    async def _step(self, run: SeenRun, planned: PlannedRun, memory: RunMemory) -> EvalRunStatus:
        """Carry out what its plan asks for; what to say of it."""
        cells = planned.plan.cells.values()
        modes, fetches = {cell.egress.mode for cell in cells}, any(c.fetches for c in cells)
        await self._keep_network(run.key, modes, fetches=fetches)
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
        return status

    def _memory(self, run: SeenRun) -> RunMemory:
        known = self.memories.get(run.key)
        if known is None or known.run_uid != run.identity.uid:
            known = self.memories[run.key] = RunMemory(run.identity.uid)
        return known

    async def _planned(self, run: SeenRun, memory: RunMemory, *, started: bool) -> PlannedRun:
        if memory.planned is not None and memory.generation != run.generation:
            spec = parse_spec(run.spec)
            if same_plan(spec, memory.planned.spec):
                # Its sources need not be read again, which may be out of reach by now.
                memory.planned = replace(memory.planned, spec=spec)
                memory.generation = run.generation
        if memory.planned is None or memory.generation != run.generation:
            held = await read_config_maps(self.cluster, run, self.now(), started=started)
            tasks = await read_bundles(self.bundles, run, started=started)
            offered = self.settings.network.egress_modes
            memory.planned = plan_seen_run(
                run, self.kinds, self.priced, offered, self.settings.trial, held, tasks
            )
            memory.generation = run.generation
            bound_plans(self.memories.values(), memory, self.settings.plan_bytes)
        memory.used_at = self.now()
        return memory.planned

    async def _await(
        self, run: SeenRun, awaited: AwaitedError, memory: RunMemory, *, started: bool
    ) -> EvalRunStatus:
        """Say what the run waits for, and come back soon; one that has ended needs it no more."""
        now = self.now()
        self.due.mark_at(run.key, now + LOOK_AGAIN)
        reached = await self._harvest(run, memory) if started else run.status
        if reached.completion_time is not None:
            return reached
        return awaiting_status(
            str(awaited),
            awaited.reason,
            generation=run.generation,
            now=now,
            previous=reached.model_copy(update={"conditions": run.status.conditions}),
        )

    async def _refuse(
        self, run: SeenRun, error: SpecError, memory: RunMemory, *, started: bool
    ) -> EvalRunStatus:
        """End it; what trials of one that an earlier version had accepted left is kept."""
        reached = await self._harvest(run, memory, refused=True) if started else run.status
        return rejected_status(
            error.problems, generation=run.generation, now=self.now(), previous=reached
        )

    async def _harvest(
        self, run: SeenRun, memory: RunMemory, *, refused: bool = False
    ) -> EvalRunStatus:
        """Take what pods left, without the plan; what the run has reached then.

        The status is as it was while nobody wrote down how many trials the run has.
        """
        remaining = remaining_run(run, self.watched.trials.of(run.key))
        modes, fetches = needed_policies(self.watched.pods.of(run.key).values())
        await self._keep_network(run.key, modes, fetches=fetches)
        await self.verifier.note_vanished(run.key, memory)
        observed = await self._billed(run, remaining, memory, refused=refused)
        # Nobody tries to start anything, so what kept it from starting may be over.
        observed = replace(observed, rest=remaining.rest or {}, stuck=None, unfit_since=None)
        decision = decide(observed)
        await self.applier.harvest(remaining, decision)
        if remaining.rest is None:
            return run.status
        return remaining_status(observed, decision, generation=run.generation, previous=run.status)

    async def _observe(self, run: SeenRun, planned: PlannedRun, memory: RunMemory) -> Observed:
        await self.verifier.note_vanished(run.key, memory)
        if not await self.admitted.look(planned, memory):
            self.due.mark_at(run.key, self.now() + LOOK_AGAIN)
        await self.verifier.fetch_spending(planned, memory, self.now())
        return await self._billed(run, planned, memory)

    async def _billed(
        self, run: SeenRun, known: HarvestedRun, memory: RunMemory, *, refused: bool = False
    ) -> Observed:
        """What is to be seen of it, with the bills of attempts that leave none."""
        observed = replace(self._look(run, known, memory), refused=refused)
        if await self.verifier.fetch_bills(known, observed, memory):
            observed = replace(self._look(run, known, memory), refused=refused)
        return observed

    def _look(self, run: SeenRun, known: HarvestedRun, memory: RunMemory) -> Observed:
        trials, pods = self.watched.trials.of(run.key), self.watched.pods.of(run.key)
        others = self.network.others(run.key.namespace, pods.values())
        return observe_run(run, known, trials, pods, memory, self.now(), others)

    async def _keep_network(
        self, key: RunKey, modes: Collection[EgressMode], *, fetches: bool
    ) -> None:
        """Repair the policies of pods that exist; a start makes those of the ones to come."""
        if self.watched.pods.of(key):
            try:
                await self.network.keep(key.namespace, modes, fetches=fetches)
            except PlatformError as error:
                # What trials left is taken nevertheless; the next start says why nothing starts.
                log.warning("%s/%s: %s", key.namespace, key.name, error)

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
