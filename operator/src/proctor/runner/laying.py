"""Lays ordered files into a folder, by descriptors and without following any symlink."""

import contextlib
import os
import stat
from collections.abc import Sequence
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.api.orders import FileOrder
from proctor.runner.folders import create_file, opened


class LayingError(PlatformError):
    """An ordered file cannot be laid down; the message names it."""


def lay_files(root: Path, files: Sequence[FileOrder]) -> None:
    """Write all files below ``root``; a later one replaces an earlier one of the same path.

    Raises:
        LayingError: When a path leaves ``root``, goes through what is not a folder, or fails.
    """
    for file in files:
        try:
            _lay_file(root, file)
        except OSError as error:
            raise LayingError(f"cannot write {file.path!r}: {error.strerror}") from error


def _lay_file(root: Path, file: FileOrder) -> None:
    parts = [part for part in file.path.split("/") if part not in ("", ".")]
    if not parts or ".." in parts or file.path.startswith("/"):
        raise LayingError(f"cannot write {file.path!r}: not a path below the folder")
    *folders, name = parts
    with contextlib.ExitStack() as stack:
        parent = stack.enter_context(opened(root))
        for folder in folders:
            with contextlib.suppress(FileExistsError):
                os.mkdir(folder, 0o755, dir_fd=parent)
            parent = stack.enter_context(opened(folder, parent))
        _remove_file(name, parent)
        create_file(name, parent, file.data, 0o755 if file.executable else 0o644)


def _remove_file(name: str, parent: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode):
            os.unlink(name, dir_fd=parent)
