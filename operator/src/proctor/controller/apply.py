"""Carry a decision out: record, close, stop, start. Every step is safe to repeat.

What we write goes into the mirrors at once, so that the next pass sees it before the watch does.
"""

import asyncio
from collections.abc import Awaitable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from proctor.controller.cluster import (
    EVAL_TRIALS,
    PODS,
    Cluster,
    MissingError,
    PreconditionError,
)
from proctor.controller.harvested import HarvestedRun
from proctor.controller.memory import RunMemory
from proctor.controller.merge import merge_form
from proctor.controller.names import FINALIZER, pod_name
from proctor.controller.observe import history
from proctor.controller.planned import PlannedRun
from proctor.controller.seen import SeenPod, SeenTrial
from proctor.controller.start import Starter
from proctor.controller.tidy import Tidy
from proctor.controller.watched import Watched
from proctor.engine.history import history_lines
from proctor.engine.model import Close, Decision, Record, Stop, TrialId
from proctor.metrics.trials import OperatorMetrics, TrialLabels

AT_ONCE = 16
"""Requests of one run at the same time."""


@dataclass(frozen=True, slots=True)
class Applier:
    """Carries decisions out in one cluster."""

    cluster: Cluster
    watched: Watched
    starter: Starter
    metrics: OperatorMetrics

    async def apply(
        self, planned: PlannedRun, decision: Decision, memory: RunMemory, now: datetime
    ) -> None:
        """Record, close, stop, start, in this order, each group in parallel.

        Raises:
            ClusterError: A request failed; what was done is done, the next pass does the rest.
        """
        await self.harvest(planned, decision)
        if decision.start:
            memory.stuck = None
        await _together(self.starter.start(planned, one, memory, now) for one in decision.start)

    async def harvest(self, run: HarvestedRun, decision: Decision) -> None:
        """All of it but the starts.

        Raises:
            ClusterError: As of ``apply``.
        """
        await _together(self._record(run, one) for one in decision.record)
        await _together(self._close(run, one) for one in decision.close)
        await _together(self._stop(run, one) for one in decision.stop)

    async def tidy(self, tidies: Iterable[Tidy]) -> None:
        """Let go of pods."""
        await _together(self._tidy(one) for one in tidies)

    async def _record(self, run: HarvestedRun, record: Record) -> None:
        """Write a trial's status; a trial that never started has no object to write to."""
        trial = self._trial(run, record.trial)
        if trial is None or trial.status.outcome is not None:
            return
        await self._patch_status(trial, merge_form(record.status))
        labels = TrialLabels(
            run.key.namespace,
            run.suite,
            run.cell(record.trial).agent,
            run.cell(record.trial).model,
            record.trial.variant,
        )
        self.metrics.trial_recorded(labels, record.status)

    async def _close(self, run: HarvestedRun, close: Close) -> None:
        """Add to the history; then the gateway serves the attempt no longer."""
        trial = self._trial(run, close.trial)
        if trial is None:
            return
        lines = history_lines([*history(trial), close.attempt])
        await self._patch_status(trial, {"attempts": [merge_form(line) for line in lines]})
        await self._patch(trial, {"spec": {"attempt": close.attempt.number + 1}})
        if close.attempt.failure_class is not None:
            self.metrics.attempt_closed(close.attempt.reason)

    async def _stop(self, run: HarvestedRun, stop: Stop) -> None:
        name = pod_name(run.names[stop.trial], stop.number)
        pod = self.watched.pods.of(run.key).get(name)
        if pod is not None and pod.identity.deleting is None:
            await self._delete(pod)

    async def _tidy(self, tidy: Tidy) -> None:
        if tidy.delete:
            await self._delete(tidy.pod)
        if tidy.release:
            await self._release(tidy.pod)

    async def _delete(self, pod: SeenPod) -> None:
        identity = pod.identity
        await self.cluster.delete(PODS, identity.namespace, identity.name, uid=identity.uid)

    async def _release(self, pod: SeenPod) -> None:
        identity = pod.identity
        others = [name for name in pod.finalizers if name != FINALIZER]
        metadata: dict[str, Any] = {"uid": identity.uid, "finalizers": others or None}
        if others:
            metadata["resourceVersion"] = str(identity.version)
        try:
            body = await self.cluster.patch(
                PODS, identity.namespace, identity.name, {"metadata": metadata}
            )
        except (MissingError, PreconditionError):
            return  # gone, or changed meanwhile: then the watch brings it back to us
        seen = SeenPod.from_body(body)
        if seen is not None:
            self.watched.pods.put(seen)

    def _trial(self, run: HarvestedRun, trial: TrialId) -> SeenTrial | None:
        return self.watched.trials.of(run.key).get(run.names[trial])

    async def _patch_status(self, trial: SeenTrial, status: Mapping[str, Any]) -> None:
        await self._patch(trial, {"status": status}, status=True)

    async def _patch(
        self, trial: SeenTrial, patch: Mapping[str, Any], *, status: bool = False
    ) -> None:
        identity = trial.identity
        body = await self.cluster.patch(
            EVAL_TRIALS,
            identity.namespace,
            identity.name,
            {**patch, "metadata": {"uid": identity.uid}},
            status=status,
        )
        seen = SeenTrial.from_body(body)
        if seen is not None:
            self.watched.trials.put(seen)


async def _together(steps: Iterable[Awaitable[None]]) -> None:
    """Run all steps, a few at a time; the first error is raised when every step has ended."""
    slots = asyncio.Semaphore(AT_ONCE)

    async def one(step: Awaitable[None]) -> None:
        async with slots:
            await step

    results = await asyncio.gather(*(one(step) for step in steps), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
