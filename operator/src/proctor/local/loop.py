"""One run from its first trial to its last: observe, decide, apply, report.

The decisions and the status are the engine's, the same as in a cluster.
"""

import asyncio
import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from proctor.api.evalrun import FailurePolicy
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.run_status import EvalRunStatus
from proctor.api.runfile import RunFile
from proctor.api.usage import Bill, RunSpending
from proctor.engine.conditions import budget_is_used_up
from proctor.engine.decide import decide
from proctor.engine.model import (
    AttemptPhase,
    ClosedAttempt,
    Decision,
    Observed,
    ObservedAttempt,
    Start,
    Stop,
    TrialId,
)
from proctor.engine.status import run_status
from proctor.local.folder import RunFolder, has_verdict, history, read_trial
from proctor.local.planned import PlannedRun
from proctor.local.progress import Progress, Reporter, progress_of

TICK = timedelta(seconds=0.5)
"""How often progress is shown although no trial ended."""

_WRITE_EVERY = timedelta(seconds=1)


class Launcher(Protocol):
    """Carries out what the engine decides."""

    def attempts(self) -> Sequence[ObservedAttempt]:
        """The last attempt of each trial that is not forgotten."""

    def spending(self) -> RunSpending | None:
        """What the run has used so far, trials that run included; None: not known."""

    def start(self, order: Start) -> None:
        """Start an attempt."""

    def stop(self, order: Stop) -> None:
        """End an attempt; it is no longer shown once nothing of it is left."""

    def forget(self, trial: TrialId) -> None:
        """Show an ended attempt no longer."""

    def kill(self) -> None:
        """End all attempts at once."""

    async def stopped(self) -> None:
        """Wait until no attempt is left; those that run are ended first."""


def new_uid() -> str:
    """A random id for a trial or a run."""
    return secrets.token_hex(8)


def utc_now() -> datetime:
    """The present instant."""
    return datetime.now(UTC)


class RunLoop:
    """Runs one run in its folder. ``uids`` has a random id for each trial."""

    def __init__(
        self,
        run: PlannedRun,
        folder: RunFolder,
        reporter: Reporter,
        *,
        keep_workspaces: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._run, self._folder, self._reporter = run, folder, reporter
        self._keep_workspaces, self._now = keep_workspaces, now
        self._desired = run.desired()
        self.uids = {trial.id: new_uid() for trial in self._desired}
        self._recorded: dict[TrialId, EvalTrialStatus] = {}
        self._closed: dict[TrialId, tuple[ClosedAttempt, ...]] = {}
        self._status: EvalRunStatus | None = None
        self._written_at: datetime | None = None
        self._started_at = now()
        self._cancelled = False
        self._wake = asyncio.Event()

    def resume(self) -> None:
        """Take over what an earlier time left in the folder."""
        for trial in self._desired:
            file = read_trial(self._folder.places, trial.id)
            if file is None:
                continue
            self.uids[trial.id] = file.uid
            if has_verdict(file.status):
                # Whether the budget is used up, its size now decides: it may have grown.
                self._recorded[trial.id] = file.status.model_copy(update={"refused": None})
            else:
                self._closed[trial.id] = history(file.status)

    def begin(self) -> None:
        """Write ``run.json`` before anything of the run can fail: its folder can be resumed now."""
        status = run_status(
            self._observe((), None),
            Decision(),
            generation=1,
            seed=self._run.plan.seed,
            secrets=self._run.plan.secrets,
        )
        self._folder.write_run(status, self._desired, {})

    def wake(self) -> None:
        """Look again: an attempt has changed."""
        self._wake.set()

    def cancel(self) -> None:
        """End the run; what has a verdict keeps it."""
        self._cancelled = True
        self._wake.set()

    async def run(self, launcher: Launcher) -> RunFile:
        """Run all trials that have no verdict; what ``run.json`` says in the end comes back."""
        self._reporter.started(
            self._run.name, self._folder.places.folder, len(self._desired), len(self._recorded)
        )
        try:
            while True:
                self._wake.clear()
                decision = self._pass(launcher)
                if decision.complete:
                    break
                if decision.is_empty:
                    await self._wait(decision)
        finally:
            await launcher.stopped()
        return self._finish()

    def _pass(self, launcher: Launcher) -> Decision:
        observed = self._observe(launcher.attempts(), launcher.spending())
        decision = decide(observed)
        self._apply(decision, launcher)
        self._status = run_status(
            observed,
            decision,
            generation=1,
            previous=self._status,
            seed=self._run.plan.seed,
            secrets=self._run.plan.secrets,
        )
        progress = self._progress(observed.attempts)
        for record in decision.record:
            self._reporter.trial_ended(record.trial, record.status, progress)
        self._reporter.progressed(progress)
        self._write_sometimes(observed.now)
        return decision

    def _observe(
        self, attempts: Sequence[ObservedAttempt], spending: RunSpending | None
    ) -> Observed:
        spec = self._run.source.spec
        return Observed(
            now=self._now(),
            desired=self._desired,
            attempts=attempts,
            closed=dict(self._closed),
            recorded=dict(self._recorded),
            parallelism=self._run.parallelism,
            policy=spec.failure_policy or FailurePolicy(),
            gate=spec.gate,
            start_time=self._started_at,
            cancelled=self._cancelled or spec.cancelled,
            active_deadline_seconds=spec.active_deadline_seconds,
            budget_usd=self._run.budget_usd,
            budget_was_used_up=budget_is_used_up(self._status.conditions if self._status else ()),
            spending=spending,
        )

    def _apply(self, decision: Decision, launcher: Launcher) -> None:
        for record in decision.record:
            self._folder.write_trial(record.trial, self.uids[record.trial], record.status)
            self._recorded[record.trial] = record.status
            self._folder.clean(record.trial, record.status, keep=self._keep_workspaces)
            launcher.forget(record.trial)
        for close in decision.close:
            closed = (*self._closed.get(close.trial, ()), close.attempt)
            self._folder.write_history(close.trial, self.uids[close.trial], closed)
            self._closed[close.trial] = closed
            launcher.forget(close.trial)
        for stop in decision.stop:
            launcher.stop(stop)
        for start in decision.start:
            self._note(start)
            launcher.start(start)

    def _note(self, start: Start) -> None:
        """Write down what is about to run: should we be killed, nobody knows what it spent."""
        cell = self._run.plan.cells[(start.trial.task, start.trial.variant)]
        uid, known = self.uids[start.trial], self._closed.get(start.trial, ())
        unfinished = ClosedAttempt(
            start.number,
            f"{uid}-{start.number}",
            None,
            "Unfinished",
            "proctor was killed while it ran",
            None if cell.needs_model else Bill(),
        )
        self._folder.write_history(start.trial, uid, (*known, unfinished))

    def _progress(self, attempts: Sequence[ObservedAttempt]) -> Progress:
        assert self._status is not None
        alive = [
            attempt
            for attempt in attempts
            if attempt.phase is AttemptPhase.RUNNING and attempt.trial not in self._recorded
        ]
        bills = [one.bill for one in alive]
        progress = progress_of(self._status, [one.trial for one in alive], bills)
        return replace(progress, budget_usd=self._run.budget_usd, models=self._run.models)

    def _write_sometimes(self, now: datetime) -> None:
        if self._written_at is None or now >= self._written_at + _WRITE_EVERY:
            self._write()
            self._written_at = now

    def _write(self) -> RunFile:
        assert self._status is not None
        return self._folder.write_run(self._status, self._desired, self._recorded)

    def _finish(self) -> RunFile:
        file = self._write()
        self._reporter.ended(file, self._folder.places.folder)
        return file

    async def _wait(self, decision: Decision) -> None:
        """Wait for an attempt, for the engine's next moment, or for the next tick."""
        timeout = TICK
        if decision.wake_at is not None:
            timeout = min(timeout, max(decision.wake_at - self._now(), timedelta(0)))
        try:
            await asyncio.wait_for(self._wake.wait(), timeout.total_seconds())
        except TimeoutError:
            return
