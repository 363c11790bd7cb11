"""The processes below the runner: list them, end all of them, collect the dead.

As PID 1 everything else in the container is ours, and ``kill(-1)`` reaches it in one step. On a
laptop ``kill(-1)`` would end the user's session, so there the runner is the subreaper of what its
children start and ends exactly its own descendants, those that left by ``setsid`` included.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass

from proctor.api.errors import PlatformError

_KILL_SECONDS = 10.0
_PAUSE_SECONDS = 0.002


class ProcessesRemainError(PlatformError):
    """Something below the runner survived SIGKILL (uninterruptible, or another user's)."""


@dataclass(frozen=True, slots=True)
class Process:
    """One process as the kernel lists it; ``zombie``: dead and not collected."""

    pid: int
    parent: int
    group: int
    zombie: bool
    resident_pages: int = 0


def list_processes() -> tuple[Process, ...]:
    """All processes that are visible here; those that end meanwhile are left out."""
    try:
        names = os.listdir("/proc")
    except FileNotFoundError:
        return _list_by_ps()
    found = (_read_stat(int(name)) for name in names if name.isdigit())
    return tuple(process for process in found if process is not None)


def _read_stat(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
    except OSError:
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(pid, int(fields[1]), int(fields[2]), fields[0] in b"ZX", int(fields[21]))


def _list_by_ps() -> tuple[Process, ...]:
    """For systems without ``/proc`` (macOS)."""
    done = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid=,pgid=,state="], capture_output=True, text=True, check=False
    )
    rows = (line.split() for line in done.stdout.splitlines())
    return tuple(
        Process(int(row[0]), int(row[1]), int(row[2]), row[3].startswith("Z"))
        for row in rows
        if len(row) == 4
    )


def descendants(root: int, processes: Iterable[Process]) -> tuple[Process, ...]:
    """Children of ``root``, their children and so on, parents first."""
    below: dict[int, list[Process]] = {}
    for process in processes:
        below.setdefault(process.parent, []).append(process)
    found: list[Process] = []
    todo = [root]
    while todo:
        children = below.pop(todo.pop(), [])
        found.extend(children)
        todo.extend(child.pid for child in children)
    return tuple(found)


def kill_everything() -> None:
    """SIGKILL every process below the runner, again and again, until no child is left.

    Takes exit codes from whoever waits for them: call it when nobody does any more.

    Raises:
        ProcessesRemainError: When something is still there after ten seconds.
    """
    deadline = time.monotonic() + _KILL_SECONDS
    while True:
        _kill_once()
        if not _collect_dead():
            return
        if time.monotonic() > deadline:
            raise ProcessesRemainError(f"processes survived SIGKILL for {_KILL_SECONDS:g} s")
        time.sleep(_PAUSE_SECONDS)


def _kill_once() -> None:
    if os.getpid() == 1:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(-1, signal.SIGKILL)
        return
    for process in descendants(os.getpid(), list_processes()):
        if not process.zombie:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)


def _collect_dead() -> bool:
    """Collect every dead child; False when there is no child any more, dead or alive."""
    while True:
        try:
            pid, _ = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True


class OrphanReaper:
    """Collects dead processes that were left to the runner, while others wait for their own.

    A child that is still a zombie at the second look has nobody who waits for it: asyncio and
    ``subprocess`` collect theirs as soon as the event loop turns.
    """

    def __init__(self) -> None:
        self._seen: frozenset[int] = frozenset()

    def look(self) -> None:
        """Collect the zombies that the last look saw already."""
        own = os.getpid()
        zombies = {p.pid for p in list_processes() if p.zombie and p.parent == own}
        for pid in zombies & self._seen:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        self._seen = frozenset(zombies)
