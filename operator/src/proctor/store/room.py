"""Room on the store's volume: bodies never take the last of it, which the index needs.

An index that cannot write cannot forget either: a volume that is full to the last byte would stay
full, because retention could remove nothing.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from proctor.store.file_objects import store_error
from proctor.store.objects import StoreFullError

_KEPT_BYTES = 32 << 20
_KEPT_SHARE = 8
"""Of a small volume an eighth is kept."""


class Room:
    """Says whether bodies fit, those on their way included.

    Args:
        folder: On the volume; it is made when it is missing.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._coming_bytes = 0

    async def require(self, size_bytes: int) -> None:
        """Whether so many bytes fit now; nothing is set aside for them.

        Raises:
            StoreFullError: They do not.
            StoreError: The volume cannot be asked.
        """
        try:
            total, _, free = await asyncio.to_thread(_usage, self._folder)
        except OSError as error:
            raise store_error(error) from error
        kept = min(_KEPT_BYTES, total // _KEPT_SHARE)
        left = max(0, free - kept - self._coming_bytes)
        if size_bytes > left:
            raise StoreFullError(
                f"the volume is full (results.volume.size): {left} bytes are left, "
                f"{size_bytes} are needed"
            )

    @asynccontextmanager
    async def taking(self, size_bytes: int) -> AsyncIterator[None]:
        """Set aside so many bytes for as long as the context lasts; raises as ``require``."""
        await self.require(size_bytes)
        self._coming_bytes += size_bytes
        try:
            yield
        finally:
            self._coming_bytes -= size_bytes


def _usage(folder: Path) -> tuple[int, int, int]:
    folder.mkdir(parents=True, exist_ok=True)
    return shutil.disk_usage(folder)
