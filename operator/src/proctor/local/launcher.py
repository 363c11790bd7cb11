"""The embedded launcher: attempts as asyncio tasks of this process, observed as engine values."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from proctor.api.orders import TrialRef
from proctor.api.outcome import FailureClass
from proctor.api.termination import TrialVerdict
from proctor.api.usage import Bill, RunSpending
from proctor.api.workspace import GitRepository
from proctor.engine.model import AttemptPhase, Failure, ObservedAttempt, Start, Stop, TrialId
from proctor.local.attempt import Attempt, Gateway, run_attempt
from proctor.local.contained import Ground
from proctor.local.phases import Phases
from proctor.local.places import RunPlaces
from proctor.planning.model import Cell


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials of a run, as the launcher needs them.

    Args:
        uids: A random id for each trial; it stays the same when the run is resumed.
        secrets: Values of all variables in ``agent.secretEnv``, by name.
        fetched: Where the repositories of workspaces lie.
        ground: What their containers share; None: they run without containers.
    """

    run: str
    places: RunPlaces
    cells: Mapping[tuple[str, str], Cell]
    uids: Mapping[TrialId, str]
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    fetched: Mapping[GitRepository, Path] = field(default_factory=dict)
    ground: Ground | None = None

    def attempt(self, trial: TrialId, number: int) -> Attempt:
        """What one attempt of a trial needs."""
        ref = TrialRef(
            run=self.run,
            task=trial.task,
            variant=trial.variant,
            repeat=trial.repeat,
            uid=self.uids[trial],
            attempt=number,
        )
        cell = self.cells[(trial.task, trial.variant)]
        secrets = {name: self.secrets[name] for name in cell.secret_env}
        fetched = None if cell.git is None else self.fetched[cell.git]
        trial_places = self.places.trial(trial)
        return Attempt(
            ref, cell, trial_places, secrets=secrets, fetched=fetched, ground=self.ground
        )


class LocalLauncher:
    """Runs attempts and says how they stand.

    ``changed`` is called whenever an attempt has ended.
    """

    def __init__(
        self,
        trials: Trials,
        phases: Phases,
        gateway: Gateway,
        now: Callable[[], datetime],
        changed: Callable[[], None],
    ) -> None:
        self._trials = trials
        self._phases = phases
        self._gateway = gateway
        self._now = now
        self._changed = changed
        self._observed: dict[TrialId, ObservedAttempt] = {}
        self._tasks: dict[TrialId, asyncio.Task[TrialVerdict | Failure]] = {}

    def attempts(self) -> Sequence[ObservedAttempt]:
        """The last attempt of each trial, with what the gateway has counted for it."""
        return tuple(self._with_bill(attempt) for attempt in self._observed.values())

    def spending(self) -> RunSpending | None:
        """What the gateway has counted for the whole run."""
        return self._gateway.spending()

    def start(self, order: Start) -> None:
        """Start an attempt; the one before it has ended."""
        now = self._now()
        self._observed[order.trial] = ObservedAttempt(
            trial=order.trial,
            number=order.number,
            phase=AttemptPhase.RUNNING,
            uid=f"{self._trials.uids[order.trial]}-{order.number}",
            created_at=now,
            started_at=now,
        )
        attempt = self._trials.attempt(order.trial, order.number)
        task = asyncio.create_task(self._run(attempt))
        self._tasks[order.trial] = task
        task.add_done_callback(lambda task: self._gone(order.trial, task))

    def stop(self, order: Stop) -> None:
        """End an attempt; it is no longer shown once nothing of it is left."""
        task = self._tasks.get(order.trial)
        if task is not None:
            task.cancel(order.reason)

    def forget(self, trial: TrialId) -> None:
        """Show an ended attempt no longer: it is in the trial's status or history."""
        attempt = self._observed.get(trial)
        if attempt is not None and attempt.phase is AttemptPhase.ENDED:
            del self._observed[trial]

    def kill(self) -> None:
        """End all attempts at once."""
        self._phases.kill()

    async def stopped(self) -> None:
        """Wait until no attempt is left; those that run are ended first."""
        for task in self._tasks.values():
            task.cancel()
        while self._tasks:
            await asyncio.wait(self._tasks.values())

    async def _run(self, attempt: Attempt) -> TrialVerdict | Failure:
        try:
            return await run_attempt(attempt, self._phases, self._gateway)
        except Exception as error:  # noqa: BLE001 - ours, and one trial's only
            return Failure(FailureClass.INFRA, "LauncherError", f"{type(error).__name__}: {error}")

    def _gone(self, trial: TrialId, task: "asyncio.Task[TrialVerdict | Failure]") -> None:
        """The attempt's task is over; one that was stopped leaves nothing to show.

        Here, not in the task, the attempt ends: whoever sees its end may start the next one.
        """
        del self._tasks[trial]
        if task.cancelled():
            del self._observed[trial]
        else:
            self._observed[trial] = self._ended(self._observed[trial], task.result())
        self._changed()

    def _ended(self, attempt: ObservedAttempt, end: TrialVerdict | Failure) -> ObservedAttempt:
        ended = replace(attempt, phase=AttemptPhase.ENDED)
        if isinstance(end, Failure):
            return replace(self._with_bill(ended), failure=end)
        return replace(ended, verdict=end)

    def _with_bill(self, attempt: ObservedAttempt) -> ObservedAttempt:
        if attempt.verdict is not None or attempt.bill is not None:
            return attempt
        return replace(attempt, bill=self._bill(attempt.trial, attempt.number))

    def _bill(self, trial: TrialId, number: int) -> Bill | None:
        """What the attempt used; without a key to the gateway, nothing."""
        if not self._trials.cells[(trial.task, trial.variant)].needs_model:
            return Bill()
        return self._gateway.bill(self._trials.uids[trial], number)
