"""Files of the command line's paths; none of them can make us wait or grow without end."""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.planning.folder import FolderFile, Keep

MOST_BYTES = 32 * 1024 * 1024
"""Of one file, and of all that a task takes along: more than planning accepts."""

MOST_FILES = 1000
"""That one task takes along; planning accepts fewer."""

_TOO_MUCH = f"it holds more than {MOST_FILES} files or {MOST_BYTES >> 20} MiB"

_MANIFESTS = (".yaml", ".yml")


def read_file(path: Path) -> bytes:
    """Content of a file, or of a pipe that somebody has written to.

    Raises:
        OSError: When it cannot be read, is a device, or is larger than ``MOST_BYTES``.
    """
    # not blocking, because opening a named pipe would otherwise wait for its writer
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "it is a folder", str(path))
        if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
            raise OSError(errno.EINVAL, "it is not a regular file", str(path))
        os.set_blocking(descriptor, True)
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise OSError(errno.EFBIG, f"it has more than {MOST_BYTES >> 20} MiB", str(path))
    return data


def real_path(path: Path) -> Path:
    """The path without symlinks; unlike ``Path.resolve`` it survives one that leads to itself."""
    return Path(os.path.realpath(path))


class DiskFolder:
    """A folder on disk, and which of its files were read from it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.used: set[Path] = set()

    def read(self, path: str) -> bytes:
        """Content of a file; ``OSError`` when it cannot be read."""
        file = self._folder / path
        self.used.add(real_path(file))
        return read_file(file)

    def files(self, path: str, keep: Keep) -> Sequence[FolderFile]:
        """The regular files below a folder that are wanted, sorted by path.

        Raises:
            OSError: When there is none, or they are beyond ``MOST_FILES`` or ``MOST_BYTES``.
        """
        folder = self._folder / path
        self.used.add(real_path(folder))
        files, size = list[FolderFile](), 0
        for file in _sorted(folder):
            name = file.relative_to(folder).as_posix()
            if file.is_file() and keep(name):
                data = read_file(file)
                size += len(data)
                if len(files) >= MOST_FILES or size > MOST_BYTES:
                    raise OSError(errno.EFBIG, _TOO_MUCH, str(folder))
                files.append(FolderFile(name, data, os.access(file, os.X_OK)))
        return files


def manifests_below(folder: Path) -> Sequence[Path]:
    """YAML files at any depth, sorted; what lies in hidden folders is not looked at.

    Also those that cannot be read, such as a symlink that leads nowhere: whoever reads them
    says so.
    """
    return [
        file
        for file in _sorted(folder)
        if file.suffix in _MANIFESTS
        and not any(part.startswith(".") for part in file.relative_to(folder).parts)
    ]


def _sorted(folder: Path) -> Sequence[Path]:
    return sorted(_walk(folder), key=lambda file: file.relative_to(folder).parts)


def _walk(folder: Path) -> Iterator[Path]:
    def fail(error: OSError) -> None:
        raise error

    for parent, _, names in os.walk(folder, onerror=fail):
        for name in names:
            yield Path(parent, name)
