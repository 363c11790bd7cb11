"""Takes a body to a temporary file, its size and digest checked on the way."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import NamedTemporaryFile

from proctor.store.file_objects import store_error


class BodyError(Exception):
    """A body is not what it was said to be; sending the same again changes nothing."""


class TooLargeError(BodyError):
    """A body is larger than it may be."""


@asynccontextmanager
async def spooled(
    body: AsyncIterator[bytes], sha256: str | None, most_bytes: int, folder: Path
) -> AsyncIterator[Path]:
    """A file with the body, for as long as the context lasts; ``sha256`` None: not checked.

    Raises:
        BodyError: It has another digest.
        TooLargeError: It is longer than ``most_bytes``; the rest was not read.
        StoreError: The temporary folder has no room.
    """
    try:
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=folder, prefix="body-") as file:
            found = hashlib.sha256()
            size = 0
            async for chunk in body:
                size += len(chunk)
                if size > most_bytes:
                    raise TooLargeError(f"the body is larger than {most_bytes} bytes")
                found.update(chunk)
                await asyncio.to_thread(file.write, chunk)
            await asyncio.to_thread(file.flush)
            if sha256 is not None and found.hexdigest() != sha256:
                raise BodyError(f"the body has digest {found.hexdigest()}, not {sha256}")
            yield Path(file.name)
    except OSError as error:
        raise store_error(error) from error


def clear(folder: Path) -> None:
    """Make the folder, and remove what a killed process left; nothing may be on its way.

    Raises:
        StoreError: The volume cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file in folder.glob("body-*"):
            file.unlink(missing_ok=True)
    except OSError as error:
        raise store_error(error) from error
