"""The port under the store: objects by key, whole or not there at all.

Keys are paths of ``[a-z0-9._/-]``. A part never changes: whoever puts one again puts the same. A
folder's note that is put again takes the place of the old one at once.
"""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Protocol

from proctor.api.errors import PlatformError

CHUNK_BYTES = 1 << 20


class StoreError(PlatformError):
    """The store cannot be used now; asking again later may help."""


class StoreFullError(StoreError):
    """There is no room left."""


class MissingObjectError(Exception):
    """There is no object of that key."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An object in a listing."""

    key: str
    size_bytes: int
    modified_at: datetime


class Objects(Protocol):
    """Holds objects. Every method raises ``StoreError`` when the store cannot be used."""

    async def put(self, key: str, file: Path) -> None:
        """Put a file's content; a kill at any point leaves no half object."""

    async def size(self, key: str) -> int | None:
        """Bytes of an object; None: there is none."""

    def read(self, key: str) -> AsyncIterator[bytes]:
        """An object's content in pieces; ``MissingObjectError`` when there is none."""

    async def delete(self, key: str) -> None:
        """Remove an object, if there is one."""

    def list(self, prefix: str) -> AsyncIterator[Listed]:
        """All objects below a prefix that ends with ``/``, in no order."""

    async def tidy(self) -> None:
        """Remove what killed puts have left."""
