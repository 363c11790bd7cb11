"""Objects as files below a folder: a temporary file, brought to the disk, then renamed."""

import asyncio
import errno
import os
import shutil
import uuid
from collections.abc import AsyncIterator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import ParamSpec, TypeVar

from proctor.store.objects import (
    CHUNK_BYTES,
    Listed,
    MissingObjectError,
    StoreError,
    StoreFullError,
)

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

_UNFINISHED = ".unfinished"
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class FileObjects:
    """Objects on a file system; its folder is made when it is missing."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._unfinished = folder / _UNFINISHED

    async def put(self, key: str, file: Path) -> None:
        """Copy, bring to the disk, rename."""
        await _in_thread(self._put, key, file)

    async def size(self, key: str) -> int | None:
        """Bytes; None: there is none."""
        return await _in_thread(self._size, key)

    async def read(self, key: str) -> AsyncIterator[bytes]:
        """The content in pieces."""
        try:
            file = await asyncio.to_thread(self._path(key).open, "rb")
        except FileNotFoundError:
            raise MissingObjectError(key) from None
        except OSError as error:
            raise store_error(error) from error
        with file:
            while chunk := await _in_thread(file.read, CHUNK_BYTES):
                yield chunk

    async def delete(self, key: str) -> None:
        """Remove the file."""
        await _in_thread(self._path(key).unlink, missing_ok=True)

    async def list(self, prefix: str) -> AsyncIterator[Listed]:
        """All files below a folder."""
        for listed in await _in_thread(lambda: list(self._walk(prefix))):
            yield listed

    async def tidy(self) -> None:
        """Remove temporary files; there must be no put at the same time."""
        await _in_thread(shutil.rmtree, self._unfinished, ignore_errors=True)

    def _put(self, key: str, file: Path) -> None:
        target = self._path(key)
        self._unfinished.mkdir(parents=True, exist_ok=True)
        made = _make_folders(target.parent)
        temporary = self._unfinished / uuid.uuid4().hex
        try:
            with file.open("rb") as source, temporary.open("xb") as copy:
                shutil.copyfileobj(source, copy, CHUNK_BYTES)
                copy.flush()
                os.fsync(copy.fileno())
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
        for folder in made:
            _sync_folder(folder)

    def _size(self, key: str) -> int | None:
        try:
            return self._path(key).stat().st_size
        except FileNotFoundError:
            return None

    def _walk(self, prefix: str) -> Iterator[Listed]:
        for folder, _, names in os.walk(self._folder / prefix):
            for name in names:
                path = Path(folder, name)
                try:
                    found = path.stat()
                except FileNotFoundError:
                    continue
                key = path.relative_to(self._folder).as_posix()
                modified_at = datetime.fromtimestamp(found.st_mtime, UTC)
                yield Listed(key, found.st_size, modified_at)

    def _path(self, key: str) -> Path:
        return self._folder / key


def store_error(error: OSError) -> StoreError:
    """A file system's refusal as the store's."""
    kind = StoreFullError if error.errno in _FULL else StoreError
    return kind(f"the store's volume: {error.strerror or error}")


async def _in_thread(
    work: Callable[Arguments, Result], *arguments: Arguments.args, **named: Arguments.kwargs
) -> Result:
    try:
        return await asyncio.to_thread(work, *arguments, **named)
    except OSError as error:
        raise store_error(error) from error


def _make_folders(folder: Path) -> list[Path]:
    """Make a folder; it and the parents whose entries changed come back, for the disk."""
    changed = [folder]
    while not folder.exists():
        folder = folder.parent
        changed.append(folder)
    changed[0].mkdir(parents=True, exist_ok=True)
    return changed


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
