"""Where a run's files go: a new folder, or that of an earlier time that is resumed."""

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from proctor.api.container import SandboxUser
from proctor.api.errors import UserError
from proctor.local.folder import RunFolder, read_run
from proctor.local.loop import new_uid
from proctor.local.places import RunPlaces
from proctor.local.planned import PlannedRun

DEFAULT_PARENT = Path("results")
LOCK = ".lock"
"""File of a folder that is held while a process works in it; the first that a run makes."""

_BEFORE_TRIALS = re.compile(rf"{re.escape(LOCK)}|(run|evalrun)\.json|repositories|ledger|\..*\.tmp")
"""What lies in a folder before the first trial of its run."""


def new_folder(run: PlannedRun, output: Path | None, *, several: bool, now: datetime) -> RunFolder:
    """Make the folder of a run that starts: ``results/<run>-<UTC time>``, or ``output``.

    With ``several`` runs each gets a folder of its own below ``output``. One in which a run ended
    before its first trial is as good as new.

    Raises:
        UserError: When the folder exists and is not empty, or cannot be made.
    """
    if output is None:
        path = _unused(DEFAULT_PARENT / f"{run.name}-{now:%Y%m%dT%H%M%SZ}")
    else:
        path = output / run.name if several else output
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        used = any(path.iterdir()) and not _is_unstarted(path)
    except OSError as error:
        raise UserError(f"{path} cannot be the folder of a run: {error.strerror}") from None
    if used:
        raise _not_empty(path)
    return _folder(path, run, new_uid(), run.fingerprint())


def require_unstarted(path: Path) -> None:
    """See that nobody ran something in a folder between its choice and its lock.

    Raises:
        UserError: When somebody did.
    """
    if not _is_unstarted(path):
        raise _not_empty(path)


def _not_empty(path: Path) -> UserError:
    return UserError(f"{path} is not empty; choose another --output, or --resume it")


def _folder(path: Path, run: PlannedRun, uid: str, fingerprint: str) -> RunFolder:
    if any(cell.user is SandboxUser.IMAGE for cell in run.plan.cells.values()):
        path.chmod(0o700)  # root of a container may leave set-uid programs that are root's here
    return RunFolder(path.resolve(), run.name, run.suite, uid, fingerprint, models=run.models)


def resumed_folder(run: PlannedRun, path: Path) -> RunFolder:
    """Take the folder of an earlier time.

    Raises:
        UserError: When it is not one, or when something else was asked for then.
    """
    if _is_unstarted(path) and not RunPlaces(path).run_file.exists():
        raise UserError(
            f"{path} holds a run, but nothing of it has started: leave --resume away, and name the "
            "folder as --output"
        )
    before = read_run(path)
    if before.name != run.name:
        raise UserError(f"{path} is of the run {before.name!r}, not of {run.name!r}")
    if before.fingerprint != run.fingerprint():
        raise UserError(
            f"{path} cannot be resumed: tasks, agent, limits, flags or script are not those of "
            "its start, or it ran with --container and now does not, or the other way round; start "
            "a new run, or undo the change"
        )
    return _folder(path, run, before.uid, before.fingerprint)


@contextmanager
def locked(folder: RunFolder) -> Iterator[None]:
    """Within: no other process works in this folder; the lock ends with this process.

    Raises:
        UserError: When another one does.
    """
    path = folder.places.folder / LOCK
    with path.open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            text = f"{folder.places.folder} is in use: another proctor runs in it"
            raise UserError(text) from None
        yield


def is_locked(folder: Path) -> bool:
    """Whether some process works in the folder of a run; not in one that is gone.

    One that we may not look into is somebody else's: nobody but them may end what runs for it.
    """
    try:
        with (folder / LOCK).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _is_unstarted(path: Path) -> bool:
    """Whether a run was begun in the folder and no trial of it, and nothing else is there.

    A trial's folder is made before anything of it runs, so without one nothing was spent.
    """
    try:
        names = [one.name for one in path.iterdir()]
    except OSError:
        return False
    return LOCK in names and all(_BEFORE_TRIALS.fullmatch(name) for name in names)


def _unused(path: Path) -> Path:
    """The path, or the first of ``path-2``, ``path-3``, … that does not exist."""
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
