"""Writing that a kill cannot tear: a reader sees the old file or the new one, never half of one."""

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from proctor.runner.folders import wipe


def write_atomically(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Write ``path`` through a temporary file beside it; the folder is made when missing.

    What an agent put in the way, such as a folder or a named pipe, is removed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    for other in (temporary, path):
        if other.is_symlink() or (other.exists() and not other.is_file()):
            remove_tree(other)
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_json(path: Path, body: Mapping[str, Any], mode: int = 0o644) -> None:
    """Write ``body`` atomically, indented for people."""
    text = json.dumps(body, indent=2, ensure_ascii=False)
    write_atomically(path, text.encode() + b"\n", mode)


def open_log(path: Path) -> BinaryIO:
    """Open a log to add to; whatever is in its place, it is a file of ours and never blocks."""
    if path.parent.is_symlink() or not path.parent.is_dir():
        remove_tree(path.parent)
        path.parent.mkdir(parents=True)
    if path.is_symlink() or (path.exists() and not path.is_file()):
        remove_tree(path)
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
    return open(os.open(path, flags, 0o644), "ab")


def end_of_file(path: Path, most_bytes: int) -> bytes:
    """The last bytes of a regular file; none when it is none, or cannot be read."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        with open(os.open(path, flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                return b""
            file.seek(max(0, found.st_size - most_bytes))
            return file.read(most_bytes)
    except OSError:
        return b""


def remove_tree(folder: Path) -> None:
    """Remove a folder, however deep, whatever its permissions; links are not followed."""
    if folder.is_symlink() or not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    folder.chmod(0o700)
    wipe(folder)
    for left in folder.iterdir():  # `wipe` is for volumes, and leaves their lost+found
        remove_tree(left)
    folder.rmdir()
