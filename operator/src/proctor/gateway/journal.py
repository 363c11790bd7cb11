"""Where the ledger's facts are kept: a folder for each run, in it a file for each attempt.

A line is written at once, before and after a call, so that it survives a kill of the process. What
the machine itself loses with its power is bounded by ``bring_to_disk``, which a process calls once
a second: to wait for the disk in every call would cost more than the calls. A line begins with its
line end, so that one that a kill tore apart spoils no other.
"""

import fcntl
import os
import re
import shutil
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol

from proctor.api.errors import PlatformError
from proctor.gateway.events import Fact, from_line, to_line

_SUFFIX = ".jsonl"
_MOST_OPEN = 128
_to_disk = getattr(os, "fdatasync", os.fsync)  # macOS has only the second
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class Journal(Protocol):
    """Takes facts down and gives them back, in the order in which an attempt's were written."""

    def append(self, fact: Fact) -> None:
        """Write one fact; ``OSError`` when that fails."""

    def of_run(self, run: str) -> Iterator[Fact]:
        """Everything of a run that sums need, attempt by attempt."""

    def of_attempt(self, run: str, trial_uid: str, attempt: int) -> Iterator[Fact]:
        """Everything of one attempt."""


class MemoryJournal:
    """Keeps facts as long as the process lives."""

    def __init__(self) -> None:
        self._facts: dict[str, dict[tuple[str, int], list[Fact]]] = {}

    def append(self, fact: Fact) -> None:
        """Keep it."""
        attempts = self._facts.setdefault(fact.run, {})
        attempts.setdefault((fact.trial_uid, fact.attempt), []).append(fact)

    def of_run(self, run: str) -> Iterator[Fact]:
        """Everything of a run."""
        for facts in self._facts.get(run, {}).values():
            yield from facts

    def of_attempt(self, run: str, trial_uid: str, attempt: int) -> Iterator[Fact]:
        """Everything of one attempt."""
        yield from self._facts.get(run, {}).get((trial_uid, attempt), ())


class FolderJournal:
    """Files in a folder, which is made when it is missing and belongs to one process at a time.

    Args:
        folder: The ledger's folder.
        started_at: Now; what the folder says of an earlier start wins.

    Raises:
        PlatformError: When another process has it.
        OSError: When it cannot be written.
    """

    def __init__(self, folder: Path, started_at: datetime) -> None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._folder = folder
        self._lock = _locked(folder / "lock")
        self.since = _since(folder / "since", started_at)
        self._dirty: set[Path] = set()
        self._open: OrderedDict[tuple[str, str, int], tuple[int, Path]] = OrderedDict()
        self.unreadable = 0

    def append(self, fact: Fact) -> None:
        """Write one line."""
        file, path = self._file(fact.run, fact.trial_uid, fact.attempt)
        line = b"\n" + to_line(fact)
        written = os.write(file, line)
        self._dirty.add(path)
        if written != len(line):
            raise OSError(f"{path}: only {written} of {len(line)} bytes were written")

    def of_run(self, run: str) -> Iterator[Fact]:
        """Everything of a run."""
        for path in sorted((self._folder / _checked(run)).glob(f"*{_SUFFIX}")):
            yield from self._read(path)

    def of_attempt(self, run: str, trial_uid: str, attempt: int) -> Iterator[Fact]:
        """Everything of one attempt."""
        path = self._path(run, trial_uid, attempt)
        if path.exists():
            yield from self._read(path)

    def take_written(self) -> frozenset[Path]:
        """Files that were written since the last time, for ``bring_to_disk``."""
        written, self._dirty = frozenset(self._dirty), set()
        return written

    def prune(self, before: datetime) -> int:
        """Remove runs of which nothing was written since ``before``; gives how many.

        May run in another thread, right after ``close_files``: what is open then is young.
        """
        runs = [path for path in self._folder.iterdir() if path.is_dir()]
        old = [path for path in runs if _written_at(path) < before.timestamp()]
        for path in old:
            shutil.rmtree(path, ignore_errors=True)
        return len(old)

    def close(self) -> None:
        """Leave the folder to the next process."""
        bring_to_disk(self.take_written())
        self.close_files()
        os.close(self._lock)

    def _file(self, run: str, trial_uid: str, attempt: int) -> tuple[int, Path]:
        """An attempt's file; those written to last stay open."""
        key = (run, trial_uid, attempt)
        known = self._open.get(key)
        if known is not None:
            self._open.move_to_end(key)
            return known
        path = self._path(run, trial_uid, attempt)
        made = self._open[key] = (_opened(path), path)
        if len(self._open) > _MOST_OPEN:
            os.close(self._open.popitem(last=False)[1][0])
        return made

    def close_files(self) -> None:
        """Open each file again when it is written to next."""
        while self._open:
            os.close(self._open.popitem()[1][0])

    def _path(self, run: str, trial_uid: str, attempt: int) -> Path:
        return self._folder / _checked(run) / f"{_checked(trial_uid)}.{attempt}{_SUFFIX}"

    def _read(self, path: Path) -> Iterator[Fact]:
        for line in path.read_bytes().splitlines():
            if not line:
                continue
            try:
                yield from_line(line)
            except ValueError:
                self.unreadable += 1


def bring_to_disk(paths: Iterable[Path]) -> None:
    """Wait until files are on the disk; may run in another thread."""
    for path in paths:
        try:
            file = os.open(path, os.O_WRONLY)
        except FileNotFoundError:
            continue
        try:
            _to_disk(file)
        finally:
            os.close(file)


def _checked(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no id of a run or a trial")
    return name


def _opened(path: Path) -> int:
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    try:
        return os.open(path, flags, 0o600)
    except FileNotFoundError:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        return os.open(path, flags, 0o600)


def _locked(path: Path) -> int:
    file = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(file)
        raise PlatformError(f"the ledger {path.parent} is in use by another gateway") from None
    return file


def _since(path: Path, started_at: datetime) -> datetime:
    """When the ledger began, as its folder tells."""
    try:
        return datetime.fromisoformat(path.read_text("ascii").strip())
    except (FileNotFoundError, ValueError):
        path.write_text(f"{started_at.isoformat()}\n", "ascii")
        return started_at


def _written_at(run: Path) -> float:
    return max((path.stat().st_mtime for path in run.iterdir()), default=run.stat().st_mtime)
