"""Repositories of a run's workspaces: each is fetched once, before the first trial."""

import asyncio
from collections.abc import Mapping
from pathlib import Path

from proctor.api.errors import UserError
from proctor.api.report import EXIT_GIT_UNREACHABLE
from proctor.api.workspace import GitRepository
from proctor.local.files import remove_tree
from proctor.local.git_logins import Logins
from proctor.local.phases import PhaseEnd, PhaseOrder, Phases
from proctor.local.places import RunPlaces
from proctor.local.planned import PlannedRun

_TRIES = 3
_TIMEOUT_SECONDS = 300.0


class RepositoryNotFetchedError(UserError):
    """A run's repository did not come, and so none of its trials has started."""


async def fetch_repositories(
    run: PlannedRun, places: RunPlaces, phases: Phases, logins: Logins
) -> Mapping[GitRepository, Path]:
    """Where each repository of the run lies now.

    Raises:
        RepositoryNotFetchedError: One cannot be fetched; no trial has started.
    """
    named = {cell.git for cell in run.plan.cells.values() if cell.git is not None}
    found = {}
    for repository in sorted(named, key=str):
        folder = places.repository(repository)
        try:
            await _fetch(repository, folder, places, phases, logins.get(repository, {}))
        except OSError as error:
            raise RepositoryNotFetchedError(f"no trial has started: {error}") from error
        found[repository] = folder
    return found


def forget_repositories(places: RunPlaces) -> None:
    """Remove them; whoever resumes the run fetches them again."""
    remove_tree(places.repositories)


async def _fetch(
    repository: GitRepository,
    folder: Path,
    places: RunPlaces,
    phases: Phases,
    login: Mapping[str, str],
) -> None:
    await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
    below = () if repository.path is None else (f"--git-path={repository.path}",)
    order = PhaseOrder(
        name="fetch",
        arguments=(
            *("--git", repository.url, "--commit", repository.commit, *below),
            *("--fetch-to", str(folder)),
        ),
        folder=places.folder,
        log=folder.with_suffix(".log"),
        timeout_seconds=_TIMEOUT_SECONDS,
        secrets=login,
    )
    end = PhaseEnd(EXIT_GIT_UNREACHABLE)
    for _ in range(_TRIES):
        end = await phases.run(order)
        if end.exit_code != EXIT_GIT_UNREACHABLE:
            break
    if end.exit_code != 0:
        said = end.last_line.rpartition("Error: ")[2] or f"exit code {end.exit_code}"
        raise RepositoryNotFetchedError(f"no trial has started: {said}")
