"""Files that leave this machine in a bundle: only what lies below one folder, as itself.

A link would take along what nobody sees in the folder, and what it leads to differs from machine to
machine; so each one is refused by name.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.local.disk import DiskFolder
from proctor.planning.folder import FolderFile, Keep


class PackedFolder(DiskFolder):
    """A folder on disk below ``root``, from which nothing leads out."""

    def __init__(self, folder: Path, root: Path) -> None:
        super().__init__(folder)
        self._at = _absolute(folder)
        self._root = root

    def read(self, path: str) -> bytes:
        """Content of a file; ``OSError`` when it cannot be read or packed."""
        file = _absolute(self._at / path)
        require_packable(file, self._root)
        return super().read(str(file))

    def files(self, path: str, keep: Keep) -> Sequence[FolderFile]:
        """The files below a folder that are wanted; ``OSError`` when one cannot be packed."""
        folder = _absolute(self._at / path)
        require_packable(folder, self._root)
        for file in _below(folder):
            if keep(file.relative_to(folder).as_posix()):
                require_packable(file, self._root)
        return [_everywhere(folder, file) for file in super().files(str(folder), keep)]


def require_packable(file: Path, root: Path) -> None:
    """Refuse what is outside, a link or on the way a link, a device, or oddly named.

    Raises:
        OSError: It may not be packed; says what it is and what to do.
    """
    at, top = _absolute(file), _absolute(root)
    if not at.is_relative_to(top):
        raise OSError(errno.EXDEV, f"it is outside {root}: push a folder that holds both")
    here, name = top, at.relative_to(top).as_posix()
    for part in at.relative_to(top).parts:
        here = here / part
        mode = here.lstat().st_mode
        if stat.S_ISLNK(mode):
            link = here.relative_to(top).as_posix()
            raise OSError(errno.ELOOP, f"{link} is a symbolic link: put the file itself there")
    if not name.isprintable() or "\\" in name:
        raise OSError(errno.EINVAL, f"{name!r} is no plain name: rename it")
    if not (stat.S_ISREG(at.lstat().st_mode) or stat.S_ISDIR(at.lstat().st_mode)):
        raise OSError(errno.EINVAL, f"{name} is no regular file: leave it out")


def linked_folders(folder: Path) -> Iterator[Path]:
    """Links to folders, in which nobody would look for task files; not those in hidden folders."""
    for parent, names, _ in os.walk(folder):
        names[:] = sorted(name for name in names if not name.startswith("."))
        yield from (Path(parent, name) for name in names if Path(parent, name).is_symlink())


def _everywhere(folder: Path, file: FolderFile) -> FolderFile:
    """The same file on every machine: executable for anybody, not for whoever asks."""
    mode = (folder / file.path).stat().st_mode
    return FolderFile(file.path, file.data, bool(mode & 0o111))


def _below(folder: Path) -> Iterator[Path]:
    """Everything at any depth that is no folder of its own; links to folders are not followed."""
    for parent, folders, files in os.walk(folder):
        links = [name for name in folders if Path(parent, name).is_symlink()]
        yield from (Path(parent, name) for name in sorted((*files, *links)))


def _absolute(path: Path) -> Path:
    """Without ``..``, and without following any link."""
    return Path(os.path.abspath(path))
