"""What `proctor run` does: load, plan, run, print."""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click
from rich.console import Console

from proctor.api.container import SandboxUser
from proctor.api.runfile import RunFile
from proctor.cli.reporting import LineReporter, LiveReporter
from proctor.gateway.traced import target_of
from proctor.local.abandoned import remove_abandoned
from proctor.local.command_engine import find_engine, require_own_root
from proctor.local.container_phases import ContainerPhases
from proctor.local.engine import Engine
from proctor.local.environment import engine_environment, own_environment
from proctor.local.exit_code import exit_code
from proctor.local.gateway import open_gateway
from proctor.local.gateway_socket import allow_descriptors
from proctor.local.git_logins import find_logins
from proctor.local.interrupt import Interrupt
from proctor.local.loading import load_runs, resumed_run
from proctor.local.notes import notes
from proctor.local.overrides import Flags, parse_sets
from proctor.local.phases import ChildPhases, Phases
from proctor.local.planned import PlannedRun
from proctor.local.providers import find_providers
from proctor.local.runner_bundle import (
    RUNNER_IMAGE,
    lay_runner,
    require_images,
    runner_cache,
)
from proctor.local.secret_variables import find_secrets
from proctor.local.session import Session
from proctor.local.strays import adopt_orphans
from proctor.runner.hardening import hide

_WIDTH_WITHOUT_TERMINAL = 140


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The command line of `proctor run`."""

    paths: tuple[Path, ...]
    tasks: tuple[str, ...]
    tags: tuple[str, ...]
    limit: int | None
    repeats: int | None
    model: str | None
    agent: str | None
    sets: tuple[str, ...]
    parallelism: int | None
    seed: str | None
    output: Path | None
    resume: Path | None
    record: Path | None
    replay: Path | None
    container: bool
    engine: str | None
    runner_image: str | None
    allow_image_user: bool
    keep_workspaces: bool
    as_json: bool
    quiet: bool
    verbose: bool

    def texts(self) -> tuple[str, ...]:
        """All that is text in it, paths apart."""
        single = (self.model, self.agent, self.seed)
        return (*self.tasks, *self.tags, *self.sets, *(one for one in single if one is not None))

    def flags(self) -> Flags:
        """What it says about the runs themselves."""
        return Flags(
            tasks=self.tasks,
            tags=self.tags,
            limit=self.limit,
            repeats=self.repeats,
            agent=self.agent,
            model=self.model,
            seed=self.seed,
            parallelism=self.parallelism,
            sets=parse_sets(self.sets),
            record=self.record,
            replay=self.replay,
        )


def run_paths(request: RunRequest) -> int:
    """Run what the command line asks for; the exit code comes back."""
    runs = _load(request)
    engine, runner = _containers(request, runs)
    if engine is not None:
        allow_descriptors()
    if engine is None:
        adopt_orphans()
    hide()  # our environment holds the providers' keys, and agents run as the same user
    providers = find_providers(runs, os.environ)
    secrets = find_secrets(runs, os.environ)
    logins = find_logins(runs, os.environ)
    traces = target_of(os.environ)
    progress = Console(stderr=True, quiet=request.quiet, highlight=False, width=_width(sys.stderr))
    for note in notes(runs):
        progress.print(f"note: {note}", style="dim", soft_wrap=True)
    reporter = _reporter(request, progress)
    session = Session(
        open_gateway=lambda run, folder: open_gateway(run, folder, providers, traces),
        phases=_phases(engine),
        reporter=reporter,
        output=request.output,
        resume=request.resume,
        keep_workspaces=request.keep_workspaces,
        secrets=secrets,
        logins=logins,
        runner=runner,
    )
    interrupt = Interrupt()
    try:
        end = asyncio.run(session.run(runs, interrupt))
    finally:
        reporter.close()
    if request.as_json:
        click.echo(_json(end.files, several=len(runs) > 1))
    statuses = [file.status for file in end.files]
    return exit_code(statuses, interrupted=interrupt.requested, failed=end.failed)


def _containers(
    request: RunRequest, runs: Sequence[PlannedRun]
) -> tuple[Engine | None, Path | None]:
    """The engine, and the runner laid for it; None without containers."""
    if not request.container:
        if request.engine is not None or request.runner_image is not None:
            raise click.UsageError("--engine and --runner-image are for --container: add it")
        if request.allow_image_user:
            raise click.UsageError("--allow-image-user is for --container: add it")
        return None, None
    engine = find_engine(request.engine, engine_environment(os.environ))
    cells = (cell for run in runs for cell in run.plan.cells.values())
    if any(cell.user is SandboxUser.IMAGE for cell in cells):
        require_own_root(engine.name, os.geteuid())
    require_images(runs, engine)
    runner = lay_runner(engine, request.runner_image or RUNNER_IMAGE, runner_cache(os.environ))
    remove_abandoned(engine)
    return engine, runner


def _phases(engine: Engine | None) -> Phases:
    if engine is None:
        return ChildPhases(own_environment())
    return ContainerPhases(engine, ChildPhases(own_environment(), orphans=False))


def _load(request: RunRequest) -> Sequence[PlannedRun]:
    for text in request.texts():
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise click.UsageError(f"{text!r} on the command line is not UTF-8")
    here = {"contained": request.container, "image_user": request.allow_image_user}
    if request.resume is not None and not request.paths:
        return [resumed_run(request.resume, request.flags(), **here)]
    if not request.paths:
        raise click.UsageError("name at least one file or folder")
    loaded = load_runs(request.paths, request.flags(), **here)
    for warning in loaded.warnings:
        click.echo(f"warning: {warning}", err=True)
    if request.resume is not None and len(loaded.runs) > 1:
        raise click.UsageError("--resume takes one run; these paths hold several")
    return loaded.runs


def _reporter(request: RunRequest, progress: Console) -> LineReporter:
    results = Console(quiet=request.as_json, highlight=False, width=_width(sys.stdout))
    live = progress.is_terminal and not request.quiet
    kind = LiveReporter if live else LineReporter
    return kind(progress, results, verbose=request.verbose)


def _width(stream: object) -> int | None:
    """Columns; None: those of the terminal."""
    if getattr(stream, "isatty", lambda: False)():
        return None
    return int(os.environ.get("COLUMNS", _WIDTH_WITHOUT_TERMINAL))


def _json(files: Sequence[RunFile], *, several: bool) -> str:
    """``run.json`` of the run, or with several runs a list of those that were begun."""
    bodies = [file.model_dump(mode="json", by_alias=True) for file in files]
    return json.dumps(bodies[0] if bodies and not several else bodies, indent=2, ensure_ascii=False)
