"""Opens what an agent left to the phases after it: ``chmod -R u+rwX,g+rX`` that trusts nothing.

Without it ``umask 077`` or ``chmod 000`` in the agent would blind ``checks`` and ``grade``, which
may run as another user of the same group.
"""

import os
import stat
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
    failures: list[str] = []
    if root.is_dir() and not root.is_symlink():
        with opened(root.parent) as parent:
            _open_folder(root.name, parent, "", failures)
    return tuple(failures)


def _open_folder(name: str, parent: int, path: str, failures: list[str]) -> None:
    try:
        add_modes(name, parent, _FOLDER)
    except OSError as error:
        failures.append(f"{path or '.'}: {error.strerror}")
    if path.count("/") > _MAX_DEPTH:
        failures.append(f"{path}: deeper than {_MAX_DEPTH} folders")
        return
    try:
        with opened(name, parent) as folder:
            for child in os.listdir(folder):
                _open_entry(child, folder, f"{path}{child}", failures)
    except OSError as error:
        failures.append(f"{path or '.'}: {error.strerror}")


def _open_entry(name: str, folder: int, path: str, failures: list[str]) -> None:
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    if stat.S_ISDIR(mode):
        _open_folder(name, folder, f"{path}/", failures)
    elif stat.S_ISREG(mode):
        try:
            add_modes(name, folder, _FILE | (_EXECUTE if mode & 0o111 else 0))
        except OSError as error:
            failures.append(f"{path}: {error.strerror}")
