"""Opens what an agent left to the phases after it: ``chmod -R u+rwX,g+rX`` that trusts nothing.

Without it ``umask 077`` or ``chmod 000`` in the agent would blind ``checks`` and ``grade``, which
may run as another user of the same group. What an agent that is root gave to another group than
its folder's is opened to everybody: the folders are mounted in our own containers only.
"""

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path

from proctor.runner.folders import add_modes, opened

_MAX_DEPTH = 200
_FOLDER = stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP
_FILE = stat.S_IRUSR | stat.S_IWUSR | stat.S_IRGRP
_EXECUTE = stat.S_IXUSR | stat.S_IXGRP


def open_up(root: Path) -> tuple[str, ...]:
    """Give owner and group what they need to read everything below ``root``.

    Returns:
        What could not be opened, as ``path: why``. A missing root is nothing to open.
    """
    if not root.is_dir() or root.is_symlink():
        return ()
    with opened(root.parent) as parent:
        opening = _Opening(os.stat(root.name, dir_fd=parent).st_gid)
        opening.folder(root.name, parent, "")
    return tuple(opening.failures)


@dataclass(slots=True)
class _Opening:
    """One tree; ``group`` is that of its root, which those who read it are in."""

    group: int
    failures: list[str] = field(default_factory=list)

    def folder(self, name: str, parent: int, path: str) -> None:
        self._add(name, parent, path, _FOLDER)
        if path.count("/") > _MAX_DEPTH:
            self.failures.append(f"{path}: deeper than {_MAX_DEPTH} folders")
            return
        try:
            with opened(name, parent) as inside:
                for child in os.listdir(inside):
                    self._entry(child, inside, f"{path}{child}")
        except OSError as error:
            self.failures.append(f"{path or '.'}: {error.strerror}")

    def _entry(self, name: str, parent: int, path: str) -> None:
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            self.folder(name, parent, f"{path}/")
        elif stat.S_ISREG(mode):
            self._add(name, parent, path, _FILE | (_EXECUTE if mode & 0o111 else 0))

    def _add(self, name: str, parent: int, path: str, bits: int) -> None:
        try:
            foreign = os.stat(name, dir_fd=parent, follow_symlinks=False).st_gid != self.group
            others = (bits & stat.S_IRWXG) >> 3 if foreign else 0
            add_modes(name, parent, bits | others)
        except OSError as error:
            self.failures.append(f"{path or '.'}: {error.strerror}")
