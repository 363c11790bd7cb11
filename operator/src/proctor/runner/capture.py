"""A workspace looked at as data: nothing is run, no symlink leads out, everything has a limit."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from proctor.api.evidence import EvidenceLimitError
from proctor.runner.globs import is_literal, parse_glob
from proctor.runner.walking import AbsentError, Walk


@dataclass(frozen=True, slots=True)
class CaptureLimits:
    """What one look may take: entries walked over, folders deep, files and bytes read."""

    entries: int = 200_000
    depth: int = 64
    files: int = 5_000
    file_bytes: int = 16 * 1024 * 1024
    total_bytes: int = 64 * 1024 * 1024


class CapturedWorkspace:
    """Regular files below ``root``, by path with ``/``.

    A symlink stands for the file inside that it leads to; one that leads out, a special file and
    an unreadable one are absent, and ``absent`` names them with the reason.
    """

    def __init__(self, root: Path, limits: CaptureLimits | None = None) -> None:
        self._root = root
        self._limits = limits or CaptureLimits()
        self.absent: dict[str, str] = {}

    def files(self, glob: str) -> dict[str, bytes]:
        """Content of all files that match; a literal path is looked up first.

        Raises:
            EvidenceLimitError: When the walk or what matches is beyond a limit.
        """
        found = self._read(glob)
        if found is not None:
            return {glob: found}
        if is_literal(glob):
            return {}
        files: dict[str, bytes] = {}
        total = 0
        for path in self._matching(glob):
            data = self._read(path)
            if data is None:
                continue
            files[path] = data
            total += len(data)
            self._check("files", len(files), glob)
            self._check("total_bytes", total, glob)
        return files

    def paths(self, glob: str) -> list[str]:
        """Files that match, sorted, without looking into them; may raise as ``files``."""
        if not is_literal(glob):
            return self._matching(glob)
        parts = [part for part in glob.split("/") if part not in ("", ".")]
        return [] if ".." in parts else ["/".join(parts)]

    def copy(self, path: str, target: BinaryIO, most_bytes: int) -> int | None:
        """Write a file's content to ``target``: its size, also when that is more than fits.

        Nothing is written then, and nothing (None) for what is absent.
        """
        with self._walk_to(path) as reached:
            if reached is None:
                return None
            found = os.fstat(reached)
            if not stat.S_ISREG(found.st_mode):
                return None
            if found.st_size <= most_bytes:
                with open(os.dup(reached), "rb") as file:
                    shutil.copyfileobj(file, target, 1 << 20)
            return found.st_size

    def is_directory(self, path: str) -> bool:
        """Whether ``path`` is a folder, inner symlinks followed."""
        with self._walk_to(path) as reached:
            return reached is not None and stat.S_ISDIR(os.fstat(reached).st_mode)

    def _check(self, limit: str, value: int, what: str) -> None:
        most: int = getattr(self._limits, limit)
        if value > most:
            raise EvidenceLimitError(f"{what!r}: more than {most} {limit.replace('_', ' ')}")

    def _read(self, path: str) -> bytes | None:
        with self._walk_to(path) as reached:
            if reached is None:
                return None
            found = os.fstat(reached)
            if not stat.S_ISREG(found.st_mode):
                return None
            self._check("file_bytes", found.st_size, path)
            with open(os.dup(reached), "rb") as file:
                return file.read(self._limits.file_bytes)

    @contextmanager
    def _walk_to(self, path: str) -> Iterator[int | None]:
        """A descriptor of what ``path`` leads to; None when absent or outside."""
        with closing(Walk(self._root)) as walk:
            try:
                reached = walk.to(path)
            except AbsentError as error:
                reached = None
                if str(error):
                    self.absent[path] = str(error)
            yield reached

    def _matching(self, glob: str) -> list[str]:
        """Paths of files and symlinks that match, sorted; folders behind symlinks not entered."""
        parsed = parse_glob(glob)
        if ".." in parsed.prefix or parsed.depth == 0:
            return []
        prefix = "/".join(parsed.prefix)
        paths: list[str] = []
        entries = 0
        todo = [prefix]
        while todo:
            folder = todo.pop()
            for name, is_folder in self._list(folder):
                entries += 1
                self._check("entries", entries, glob)
                path = f"{folder}/{name}" if folder else name
                depth = path.count("/") + 1
                if is_folder and depth < parsed.depth:
                    self._check("depth", depth, glob)
                    todo.append(path)
                elif not is_folder and parsed.matches(path):
                    paths.append(path)
        return sorted(paths)

    def _list(self, folder: str) -> list[tuple[str, bool]]:
        with self._walk_to(folder) as reached:
            if reached is None:
                return []
            try:
                with os.scandir(reached) as found:
                    return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in found]
            except NotADirectoryError:
                return []
