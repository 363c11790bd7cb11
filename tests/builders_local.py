"""Builders and fakes for tests of the local launcher."""

import asyncio
import os
import select
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from builders import NOON, a_bill, a_verdict
from builders_planning import KINDS, a_source, a_spec, priced
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.orders import TrialRef
from proctor.api.runfile import RunFile
from proctor.api.termination import TrialVerdict
from proctor.api.usage import Bill, RunSpending
from proctor.engine.model import TrialId
from proctor.gateway.local_accounts import Keys
from proctor.local.attempt import Attempt
from proctor.local.folder import RunFolder
from proctor.local.launcher import LocalLauncher, Trials
from proctor.local.loop import RunLoop
from proctor.local.phases import PhaseEnd, PhaseOrder
from proctor.local.places import RunPlaces
from proctor.local.planned import PlannedRun
from proctor.local.progress import Progress
from proctor.planning.model import Cell
from proctor.planning.plan import plan_run

Behaviour = Callable[[PhaseOrder], PhaseEnd]

DEADLINE_SECONDS = 30.0


class Lifeline:
    """A named pipe that processes hold open: who is ready says so, and its end is theirs."""

    def __init__(self, path: Path) -> None:
        os.mkfifo(path)
        self.path = path
        self._read = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self._heard = b""

    def wait_for(self, word: str) -> None:
        """Until somebody has written ``word``."""
        while word.encode() not in self._heard:
            self._heard += self._next(f"nobody wrote {word!r}")

    def wait_for_end(self) -> None:
        """Until no process has it open any more."""
        while self._next("somebody is still alive"):
            pass

    def close(self) -> None:
        os.close(self._read)

    def _next(self, otherwise: str) -> bytes:
        readable, _, _ = select.select([self._read], [], [], DEADLINE_SECONDS)
        assert readable, otherwise
        return os.read(self._read, 4096)


CHECKED = {
    "name": "hello",
    "prompt": "Say hello.",
    "criteria": [{"type": "run_command", "command": "true"}],
}
"""A task whose criteria need the phase ``checks``."""


def a_planned_run(parallelism: int = 2, script: str | None = None, **fields: Any) -> PlannedRun:
    source = a_source(**fields)
    return PlannedRun(source, plan_run(source, KINDS, priced), script, parallelism)


def a_cell(**fields: Any) -> Cell:
    return next(iter(a_planned_run(**fields).plan.cells.values()))


def a_local_attempt(
    folder: Path, secrets: Mapping[str, str] | None = None, **fields: Any
) -> Attempt:
    ref = TrialRef("run", "hello", "default", 0, "uid-0", 1)
    places = RunPlaces(folder).trial(TrialId("hello", "default", 0))
    return Attempt(ref, a_cell(**fields), places, secrets or {})


def a_folder(path: Path, run: PlannedRun) -> RunFolder:
    return RunFolder(path, run.name, run.suite, "run-uid", run.fingerprint())


def argument(order: PhaseOrder, name: str) -> str:
    """Value of one of a phase's arguments."""
    return order.arguments[order.arguments.index(name) + 1]


def grading(**changes: Any) -> Behaviour:
    """A phase ``grade`` that gives this verdict."""

    def grade(order: PhaseOrder) -> PhaseEnd:
        ref = {"trial_uid": argument(order, "--uid"), "attempt": int(argument(order, "--attempt"))}
        verdict: TrialVerdict = a_verdict(**{**ref, **changes})
        Path(argument(order, "--verdict")).write_bytes(verdict.to_message())
        return PhaseEnd(0)

    return grade


def ending(exit_code: int, last_line: str = "", *, timed_out: bool = False) -> Behaviour:
    """A phase that ends so."""
    return lambda order: PhaseEnd(exit_code, timed_out, last_line)


@dataclass
class FakePhases:
    """Runs phases in this process; those in ``hanging`` wait until they are cancelled."""

    behaviour: Mapping[str, Behaviour] = field(default_factory=dict)
    hanging: frozenset[str] = frozenset()
    orders: list[PhaseOrder] = field(default_factory=list)
    started: asyncio.Event = field(default_factory=asyncio.Event)
    killed: bool = False

    async def run(self, order: PhaseOrder) -> PhaseEnd:
        self.orders.append(order)
        self.started.set()
        if order.name in self.hanging:
            await asyncio.Event().wait()
        default = grading() if order.name == "grade" else ending(0)
        return self.behaviour.get(order.name, default)(order)

    def kill(self) -> None:
        self.killed = True

    @property
    def names(self) -> list[str]:
        return [order.name for order in self.orders]


@dataclass
class FakeGateway:
    url: str = "http://127.0.0.1:1"
    admitted: list[TrialRef] = field(default_factory=list)
    spent: RunSpending = field(default_factory=RunSpending)

    def admit(self, ref: TrialRef, cell: Cell) -> Keys:
        self.admitted.append(ref)
        return Keys(f"agent-{ref.uid}-{ref.attempt}", f"judge-{ref.uid}-{ref.attempt}")

    def bill(self, uid: str, attempt: int) -> Bill | None:
        return a_bill()

    def spending(self) -> RunSpending:
        return self.spent


@dataclass
class FakeReporter:
    ended_trials: list[tuple[TrialId, str | None]] = field(default_factory=list)
    progress: list[Progress] = field(default_factory=list)
    failures: list[tuple[str, Path, str]] = field(default_factory=list)
    kept: int = 0

    def started(self, name: str, folder: Path, total: int, kept: int) -> None:
        self.kept = kept

    def trial_ended(self, trial: TrialId, status: EvalTrialStatus, progress: Progress) -> None:
        self.ended_trials.append((trial, status.outcome))

    def progressed(self, progress: Progress) -> None:
        self.progress.append(progress)

    def interrupted(self) -> None:
        pass

    def ended(self, file: RunFile, folder: Path) -> None:
        pass

    def failed(self, name: str, folder: Path, reason: str) -> None:
        self.failures.append((name, folder, reason))


@dataclass
class Stage:
    """A run in a folder with fakes around it."""

    run: PlannedRun
    path: Path
    phases: FakePhases = field(default_factory=FakePhases)
    reporter: FakeReporter = field(default_factory=FakeReporter)
    keep_workspaces: bool = False
    gateway: FakeGateway = field(default_factory=FakeGateway)

    def __post_init__(self) -> None:
        folder = a_folder(self.path, self.run)
        self.loop = RunLoop(
            self.run, folder, self.reporter, keep_workspaces=self.keep_workspaces, now=_noon
        )

    async def play(self) -> RunFile:
        trials = Trials(self.run.name, RunPlaces(self.path), self.run.plan.cells, self.loop.uids)
        launcher = LocalLauncher(trials, self.phases, self.gateway, _noon, self.loop.wake)
        return await self.loop.run(launcher)


def _noon() -> datetime:
    return NOON


__all__ = ["a_spec"]
