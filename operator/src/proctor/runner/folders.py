"""Folders that code of an agent may have touched: opened, emptied and written without trusting it.

Every step goes by a descriptor of the folder and a name in it, and follows no symlink.
"""

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from proctor.api.errors import PlatformError

_LOST_AND_FOUND = "lost+found"  # a volume's own
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class UsedFolderError(PlatformError):
    """A folder that must be fresh holds something: a second start in the same pod."""


def require_unused(folder: Path) -> None:
    """Make ``folder`` if it is missing.

    Raises:
        UsedFolderError: When it holds anything but ``lost+found``.
    """
    folder.mkdir(parents=True, exist_ok=True)
    found = sorted(set(os.listdir(folder)) - {_LOST_AND_FOUND})
    if found:
        raise UsedFolderError(f"{folder} is used already: it holds {found[0]!r}")


@contextlib.contextmanager
def opened(name: str | Path, parent: int | None = None) -> Iterator[int]:
    """A descriptor of a folder; ``OSError`` when it is none, or a symlink."""
    descriptor = os.open(name, _FOLDER, dir_fd=parent)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def wipe(folder: Path) -> None:
    """Remove everything in ``folder``, whatever its depth and modes; make it if missing.

    Inner folders are moved to the top before they are emptied: so a tree deeper than the limits
    on paths, recursion and descriptors goes as well. Where the folder itself is this user's, as on
    a laptop, an agent may have closed it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(OSError), opened(folder.parent) as above:
        add_modes(folder.name, above, stat.S_IRWXU)
    with opened(folder) as root:
        moved = 0
        todo = [name for name in os.listdir(root) if name != _LOST_AND_FOUND]
        while todo:
            name = todo.pop()
            if not _is_folder(name, root):
                os.unlink(name, dir_fd=root)
                continue
            add_modes(name, root, stat.S_IRWXU)
            with opened(name, root) as inner:
                for child in os.listdir(inner):
                    if not _is_folder(child, inner):
                        os.unlink(child, dir_fd=inner)
                        continue
                    add_modes(child, inner, stat.S_IRWXU)
                    moved += 1
                    todo.append(_move_up(child, inner, root, moved))
            os.rmdir(name, dir_fd=root)


def _move_up(name: str, inner: int, root: int, number: int) -> str:
    target = f".wiped-{os.getpid()}-{number}"
    os.rename(name, target, src_dir_fd=inner, dst_dir_fd=root)
    return target


def _is_folder(name: str, parent: int) -> bool:
    return stat.S_ISDIR(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)


def add_modes(name: str, parent: int, bits: int) -> None:
    """Add permission bits to a file or folder, never through a symlink.

    ``OSError`` when it belongs to somebody else.
    """
    if not hasattr(os, "O_PATH"):
        mode = os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode
        if not stat.S_ISLNK(mode):
            os.chmod(name, stat.S_IMODE(mode) | bits, dir_fd=parent, follow_symlinks=False)
        return
    # O_PATH opens what cannot be read; Linux has no fchmodat that stops at symlinks.
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent)
    try:
        mode = os.fstat(descriptor).st_mode
        if not stat.S_ISLNK(mode) and mode & bits != bits:
            os.chmod(f"/proc/self/fd/{descriptor}", stat.S_IMODE(mode) | bits)
    finally:
        os.close(descriptor)


def write_new(folder: Path, name: str, data: bytes) -> None:
    """Write a file that must not exist yet, readable by the group; ``OSError`` if it does."""
    with opened(folder) as parent:
        create_file(name, parent, data, 0o644)


def create_file(name: str, parent: int, data: bytes, mode: int) -> None:
    """Create a file in a folder with exactly this mode."""
    descriptor = os.open(name, _CREATE, 0o600, dir_fd=parent)
    with open(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fchmod(descriptor, mode)
