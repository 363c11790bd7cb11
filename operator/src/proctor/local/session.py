"""All runs of one ``proctor run``, one after another."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from proctor.api.runfile import RunFile
from proctor.api.workspace import GitRepository
from proctor.local.attempt import Gateway
from proctor.local.contained import Ground
from proctor.local.folder import RunFolder, read_run
from proctor.local.git_logins import Logins
from proctor.local.interrupt import Interrupt, catching_signals
from proctor.local.launcher import LocalLauncher, Trials
from proctor.local.loop import RunLoop, utc_now
from proctor.local.phases import Phases
from proctor.local.planned import PlannedRun
from proctor.local.progress import Reporter
from proctor.local.repositories import (
    RepositoryNotFetchedError,
    fetch_repositories,
    forget_repositories,
)
from proctor.local.source_file import write_source
from proctor.local.start import locked, new_folder, require_unstarted, resumed_folder

OpenGateway = Callable[[PlannedRun, RunFolder], AbstractAsyncContextManager[Gateway]]


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """What came of the runs.

    Args:
        files: ``run.json`` of each run that was begun, in order, those that failed included.
        failed: Names of the runs of which no trial could be started.
    """

    files: tuple[RunFile, ...]
    failed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """How the runs are carried out.

    Args:
        output: Folder for the records; None: a new one below ``results``.
        resume: Folder of an earlier time, to run only what has no verdict; None: start anew.
        secrets: Values of the variables in ``agent.secretEnv`` of all runs, by name.
        logins: Who asks for the repositories of their workspaces.
        runner: Folder of the runner for containers; None: trials run without containers.
    """

    open_gateway: OpenGateway
    phases: Phases
    reporter: Reporter
    output: Path | None = None
    resume: Path | None = None
    keep_workspaces: bool = False
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    logins: Logins = field(default_factory=dict, repr=False)
    runner: Path | None = None

    async def run(self, runs: Sequence[PlannedRun], interrupt: Interrupt) -> SessionEnd:
        """Run them; after an interruption the rest is not started.

        One whose repository does not come keeps no other from starting.

        Raises:
            UserError: When a run's folder cannot be used; nothing has started.
        """
        folders = [self._folder(run, several=len(runs) > 1) for run in runs]
        files, failed = [], []
        with catching_signals(interrupt):
            for run, folder in zip(runs, folders, strict=True):
                if interrupt.requested:
                    _leave(folder)
                    continue
                try:
                    files.append(await self._run(run, folder, interrupt))
                except RepositoryNotFetchedError as error:
                    self.reporter.failed(run.name, folder.places.folder, str(error))
                    files.append(read_run(folder.places.folder))
                    failed.append(run.name)
        return SessionEnd(tuple(files), tuple(failed))

    def _folder(self, run: PlannedRun, *, several: bool) -> RunFolder:
        if self.resume is None:
            return new_folder(run, self.output, several=several, now=utc_now())
        return resumed_folder(run, self.resume)

    async def _run(self, run: PlannedRun, folder: RunFolder, interrupt: Interrupt) -> RunFile:
        with locked(folder):
            if self.resume is None:
                require_unstarted(folder.places.folder)
            write_source(folder.places, run)
            loop = RunLoop(run, folder, self.reporter, keep_workspaces=self.keep_workspaces)
            if self.resume is None:
                loop.begin()
            else:
                loop.resume()
            try:
                fetched = await self._fetched(run, folder, interrupt)
                return await self._carry_out(folder, run, loop, fetched, interrupt)
            finally:
                forget_repositories(folder.places)

    async def _fetched(
        self, run: PlannedRun, folder: RunFolder, interrupt: Interrupt
    ) -> Mapping[GitRepository, Path]:
        """The repositories; none when the user asked to stop meanwhile: then nothing starts."""
        task = asyncio.ensure_future(
            fetch_repositories(run, folder.places, self.phases, self.logins)
        )

        def stop() -> None:
            task.cancel()

        with interrupt.telling(stop, self.phases.kill):
            await asyncio.wait([task])
        return {} if task.cancelled() else task.result()

    async def _carry_out(
        self,
        folder: RunFolder,
        run: PlannedRun,
        loop: RunLoop,
        fetched: Mapping[GitRepository, Path],
        interrupt: Interrupt,
    ) -> RunFile:
        if interrupt.requested:
            loop.cancel()
        ground = None if self.runner is None else Ground(self.runner, folder.places.folder)
        async with self.open_gateway(run, folder) as gateway:
            trials = Trials(
                run=run.name,
                places=folder.places,
                cells=run.plan.cells,
                uids=loop.uids,
                secrets=self.secrets,
                fetched=fetched,
                ground=ground,
            )
            launcher = LocalLauncher(trials, self.phases, gateway, utc_now, loop.wake)

            def ask() -> None:
                self.reporter.interrupted()
                loop.cancel()

            with interrupt.telling(ask, launcher.kill):
                return await loop.run(launcher)


def _leave(folder: RunFolder) -> None:
    """Remove the folder of a run that is not begun; what lies in it from an earlier time stays."""
    with suppress(OSError):
        folder.places.folder.rmdir()
