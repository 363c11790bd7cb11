"""Copies a tree that hostile code made: symlinks as they are, special files left out and named."""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from proctor.runner.folders import opened

_MAX_DEPTH = 200
_CHUNK = 1 << 20
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(slots=True)
class _Copy:
    root: int
    skipped: list[str] = field(default_factory=list)
    linked: dict[tuple[int, int], str] = field(default_factory=dict)


def copy_tree(source: Path, target: Path) -> tuple[str, ...]:
    """Copy what is in ``source`` into ``target``, which is made if missing.

    Modes (without set-uid), times, holes and hard links within the tree are kept; files in the
    way are replaced.

    Returns:
        What was left out, as ``path: why``: devices, pipes, sockets, unreadable files, and
        folders deeper than 200.

    Raises:
        OSError: When ``target`` cannot take it (no space left).
    """
    target.mkdir(parents=True, exist_ok=True)
    with opened(source) as read, opened(target) as write:
        copy = _Copy(root=write)
        _copy_folder(copy, read, write, "")
    return tuple(copy.skipped)


def _copy_folder(copy: _Copy, source: int, target: int, path: str) -> None:
    for name in sorted(os.listdir(source)):
        where = f"{path}{name}"
        found = os.stat(name, dir_fd=source, follow_symlinks=False)
        if stat.S_ISDIR(found.st_mode):
            _copy_inner(copy, source, target, where)
        elif stat.S_ISLNK(found.st_mode):
            _make_way(name, target)
            os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
        elif stat.S_ISREG(found.st_mode):
            _copy_file(copy, source, target, where)
        else:
            copy.skipped.append(f"{where}: not a regular file")


def _copy_inner(copy: _Copy, source: int, target: int, path: str) -> None:
    name = path.rpartition("/")[2]
    if path == "lost+found":
        return
    if path.count("/") >= _MAX_DEPTH:
        copy.skipped.append(f"{path}: deeper than {_MAX_DEPTH} folders")
        return
    with suppress(FileExistsError):
        os.mkdir(name, 0o700, dir_fd=target)
    try:
        source = os.open(name, _READ | os.O_DIRECTORY, dir_fd=source)
    except PermissionError:
        copy.skipped.append(f"{path}: unreadable")
        return
    with _closing(source), opened(name, target) as inner:
        _copy_folder(copy, source, inner, f"{path}/")
        _keep_facts(os.fstat(source), inner, stat.S_IRWXU)


def _copy_file(copy: _Copy, source: int, target: int, path: str) -> None:
    name = path.rpartition("/")[2]
    try:
        read = os.open(name, _READ, dir_fd=source)
    except PermissionError:
        copy.skipped.append(f"{path}: unreadable")
        return
    with _closing(read):
        found = os.fstat(read)
        _make_way(name, target)
        if found.st_nlink > 1 and _link(copy, found, target, path):
            return
        write = os.open(name, _WRITE, 0o600, dir_fd=target)
        with _closing(write):
            _copy_data(read, write, found.st_size)
            _keep_facts(found, write, stat.S_IRUSR)


def _link(copy: _Copy, found: os.stat_result, target: int, path: str) -> bool:
    """Link to the copy of the same file; False when this is its first name."""
    first = copy.linked.setdefault((found.st_dev, found.st_ino), path)
    if first == path:
        return False
    try:
        os.link(
            first,
            path.rpartition("/")[2],
            src_dir_fd=copy.root,
            dst_dir_fd=target,
            follow_symlinks=False,
        )
    except OSError:
        return False
    return True


def _copy_data(read: int, write: int, size: int) -> None:
    """Copy the data and keep the holes, so that a huge sparse file stays small."""
    at = 0
    while at < size:
        begin, end = _next_data(read, at, size)
        os.lseek(read, begin, os.SEEK_SET)
        os.lseek(write, begin, os.SEEK_SET)
        at = end
        while begin < end and (chunk := os.read(read, min(_CHUNK, end - begin))):
            begin += os.write(write, chunk)
            os.lseek(read, begin, os.SEEK_SET)
    os.ftruncate(write, size)


def _next_data(read: int, at: int, size: int) -> tuple[int, int]:
    """Where the next data begins and ends; both are ``size`` when nothing but a hole is left."""
    if not hasattr(os, "SEEK_DATA"):
        return at, size
    try:
        begin = os.lseek(read, at, os.SEEK_DATA)
        return begin, os.lseek(read, begin, os.SEEK_HOLE)
    except OSError as error:
        return (size, size) if error.errno == errno.ENXIO else (at, size)


def _keep_facts(found: os.stat_result, descriptor: int, least: int) -> None:
    os.fchmod(descriptor, stat.S_IMODE(found.st_mode) & 0o777 | least)
    os.utime(descriptor, ns=(found.st_atime_ns, found.st_mtime_ns))


def _make_way(name: str, parent: int) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=parent)


@contextmanager
def _closing(descriptor: int) -> Iterator[None]:
    try:
        yield
    finally:
        os.close(descriptor)
