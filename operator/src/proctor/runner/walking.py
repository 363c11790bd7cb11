"""Goes to a path below a root without ever leaving it, and opens nothing that is not data."""

import os
import stat
from pathlib import Path

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MAX_LINKS = 40


class AbsentError(Exception):
    """The path leads to nothing inside; the text says why when that is worth naming."""


class Walk:
    """Descriptors of the folders from the root down to where the walk is."""

    def __init__(self, root: Path) -> None:
        self._open = [os.open(root, _FOLDER)]
        self._links = 0

    def close(self) -> None:
        """Close all of them."""
        for descriptor in self._open:
            os.close(descriptor)

    def to(self, path: str) -> int:
        """Go to a file or folder, following symlinks that stay inside.

        Returns:
            Its descriptor, closed with the walk.

        Raises:
            AbsentError: When there is nothing, or it is outside, unreadable or special.
        """
        parts = path.split("/")[::-1]
        while parts:
            part = parts.pop()
            if part == "..":
                self._up()
            elif part not in ("", "."):
                parts.extend(self._step(part))
        return self._open[-1]

    def _up(self) -> None:
        if len(self._open) == 1:
            raise AbsentError("a path that leads out")
        os.close(self._open.pop())

    def _step(self, name: str) -> list[str]:
        """Enter ``name``; when it is a symlink, what to go through instead, last part first."""
        try:
            mode = os.stat(name, dir_fd=self._open[-1], follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                return self._follow(os.readlink(name, dir_fd=self._open[-1]))
            if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
                raise AbsentError("not a regular file")
            flags = _FOLDER if stat.S_ISDIR(mode) else _FILE
            self._open.append(os.open(name, flags, dir_fd=self._open[-1]))
        except PermissionError as error:
            raise AbsentError("unreadable") from error
        except (OSError, ValueError) as error:
            raise AbsentError from error
        return []

    def _follow(self, target: str) -> list[str]:
        self._links += 1
        if target.startswith("/") or self._links > _MAX_LINKS:
            raise AbsentError("a symlink that leads out")
        return target.split("/")[::-1]
