"""All runs of one ``proctor run``, one after another."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path

from proctor.api.runfile import RunFile
from proctor.api.workspace import GitRepository
from proctor.local.attempt import Gateway
from proctor.local.contained import Ground
from proctor.local.folder import RunFolder
from proctor.local.git_logins import Logins
from proctor.local.interrupt import Interrupt, catching_signals
from proctor.local.launcher import LocalLauncher, Trials
from proctor.local.loop import RunLoop, utc_now
from proctor.local.phases import Phases
from proctor.local.planned import PlannedRun
from proctor.local.progress import Reporter
from proctor.local.repositories import fetch_repositories, forget_repositories
from proctor.local.source_file import write_source
from proctor.local.start import locked, new_folder, resumed_folder

OpenGateway = Callable[[PlannedRun, RunFolder], AbstractAsyncContextManager[Gateway]]


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

    async def run(self, runs: Sequence[PlannedRun], interrupt: Interrupt) -> Sequence[RunFile]:
        """Run them; after an interruption the rest is not started.

        Raises:
            UserError: When a run's folder cannot be used.
        """
        files = []
        with catching_signals(interrupt):
            for run in runs:
                if not interrupt.requested:
                    files.append(await self._run(run, interrupt, several=len(runs) > 1))
        return files

    async def _run(self, run: PlannedRun, interrupt: Interrupt, *, several: bool) -> RunFile:
        if self.resume is None:
            folder = new_folder(run, self.output, several=several, now=utc_now())
        else:
            folder = resumed_folder(run, self.resume)
        with locked(folder):
            return await self._run_in(folder, run, interrupt)

    async def _run_in(self, folder: RunFolder, run: PlannedRun, interrupt: Interrupt) -> RunFile:
        write_source(folder.places, run)
        loop = RunLoop(run, folder, self.reporter, keep_workspaces=self.keep_workspaces)
        if self.resume is not None:
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
