"""The store: folders by digest, in objects and an index; the one place that changes both.

A folder is whole once its note lies in the objects. The note is written last and removed first, so
a kill at any point leaves a folder that is whole or none. The index follows: what it lost is made
again from the notes.
"""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import ValidationError

from proctor.api.record import MANIFEST
from proctor.api.stored import StoredFolder
from proctor.store.folders import ConflictError, FolderKey, NotOfferedError, Part, parts_of
from proctor.store.index import SqlIndex
from proctor.store.manifests import read_manifest
from proctor.store.objects import MissingObjectError, Objects, StoreError, StoreFullError
from proctor.store.room import Room
from proctor.store.spool import BodyError, TooLargeError, clear, spooled

ORPHANED_AFTER = timedelta(hours=24)
"""What belongs to no whole folder is left for so long: somebody may still be sending."""
_PLACES = 2
"""A body lies in the spool and, where objects are files, beside them for a moment."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a folder may be.

    Args:
        folder_bytes: All parts together.
        parts: How many.
        total_bytes: All folders together; None: as many as the store takes.
    """

    folder_bytes: int = 256 << 20
    total_bytes: int | None = None
    parts: int = 20_000


class Store:
    """Folders by digest.

    Args:
        spool: Folder for bodies on their way; nobody else's.
        now: The time, UTC.
    """

    def __init__(
        self,
        objects: Objects,
        index: SqlIndex,
        spool: Path,
        limits: Limits,
        now: Callable[[], datetime],
    ) -> None:
        self._objects = objects
        self._index = index
        self._spool = spool
        self._limits = limits
        self._now = now
        self._room = Room(spool)
        self._changing = asyncio.Lock()
        self._is_caught_up = False
        self._wants_room = asyncio.Event()
        self._wanted_bytes = 0

    @property
    def is_open(self) -> bool:
        """Whether the index can be used, and knows all that lies in the objects."""
        return self._index.is_open and self._is_caught_up

    async def open(self) -> int:
        """Open the index and bring it up to the objects; how many folders it did not know.

        Raises:
            StoreError: Objects or index cannot be used; to be tried again.
        """
        self._is_caught_up = False
        await self._index.open()
        found = await self.reindex()
        self._is_caught_up = True
        return found

    async def clear(self) -> None:
        """Remove what a killed process left, before anything is taken; ``StoreError`` as above."""
        await asyncio.to_thread(clear, self._spool)
        await self._objects.tidy()

    async def offer(self, folder: StoredFolder, manifest: bytes) -> tuple[str, ...]:
        """Take a manifest; the SHA-256 of parts that are missing, none when the folder is whole.

        Raises:
            BodyError: It is no manifest.
            TooLargeError: The folder is larger than the limits.
            ConflictError: The attempt has another record.
            StoreError: To be tried again.
        """
        key = FolderKey.of(folder)
        if hashlib.sha256(manifest).hexdigest() != folder.digest:
            raise BodyError(f"the manifest's digest is not {folder.digest}")
        made_of = self._parts_of(manifest, folder.digest)
        size = sum(part.size_bytes for part in made_of)
        if size > self._limits.folder_bytes:
            raise TooLargeError(f"{size} bytes; at most {self._limits.folder_bytes} are taken")
        found = await self._index.find(key)
        if found is not None and found[1]:
            return ()
        await self._require_room(size)
        if found is None:
            await self._room.require(size + max(part.size_bytes for part in made_of))
        async with self._changing:
            await self._index.begin(folder.model_copy(update={"size_bytes": size}), made_of)
        async with self._room.taking(_PLACES * len(manifest)):
            await self._put(key.blob(folder.digest), manifest)
        return await self._missing(key, made_of)

    async def take(self, key: FolderKey, sha256: str, body: AsyncIterator[bytes]) -> bool:
        """Take one part of a folder that was offered; False: it names no such part.

        Raises:
            NotOfferedError: The folder is not known, or not any more.
            BodyError: Digest or size are not what the manifest says.
            StoreError: To be tried again.
        """
        size = {part.sha256: part.size_bytes for part in await self.parts(key)}.get(sha256)
        if size is None:
            return False
        async with (
            self._room.taking(_PLACES * size),
            spooled(body, sha256, size, self._spool) as file,
        ):
            if file.stat().st_size != size:
                raise BodyError(f"part {sha256} has {file.stat().st_size} bytes, not {size}")
            await self._objects.put(key.blob(sha256), file)
        return True

    async def finish(self, folder: StoredFolder) -> None:
        """Make a folder whole whose parts are all there.

        Raises:
            NotOfferedError: The folder is not known, or not any more.
            StoreError: To be tried again.
        """
        key = FolderKey.of(folder)
        await self._put(key.note, (await self._known(key)).model_dump_json(by_alias=True).encode())
        async with self._changing:
            if not await self._index.finish(key, self._now()):
                raise _not_offered(key)

    async def renew(self, key: FolderKey) -> None:
        """Count a folder's age from now on: somebody has asked for it again."""
        async with self._changing:
            await self._index.renew(key, self._now())

    async def find(self, key: FolderKey) -> tuple[StoredFolder, tuple[Part, ...]] | None:
        """A whole folder and its parts by path, or None.

        Raises:
            StoreError: Nobody can say yet: the index lacks what lies in the objects.
        """
        found = await self._index.find(key)
        if found is None or not found[1]:
            self._require_caught_up()
            return None
        return found[0], await self._index.parts(key)

    async def parts(self, key: FolderKey) -> tuple[Part, ...]:
        """What a folder names, whole or not, by path.

        Raises:
            NotOfferedError: The folder is not known, or not any more.
        """
        found = await self._index.parts(key)
        if not found:
            raise _not_offered(key)
        return found

    async def stored(
        self, namespace_uid: str, kind: str, run: str | None = None
    ) -> tuple[StoredFolder, ...]:
        """Whole folders of a namespace, oldest first; of one run when it is named.

        Raises:
            StoreError: As ``find``.
        """
        self._require_caught_up()
        return await self._index.stored(namespace_uid, kind, run)

    def read(self, key: FolderKey, sha256: str) -> AsyncIterator[bytes]:
        """The content of a part; ``MissingObjectError`` when it is gone."""
        return self._objects.read(key.blob(sha256))

    async def content(self, key: FolderKey, part: Part, most_bytes: int) -> bytes | None:
        """A small part; None: it is missing or larger."""
        if part.size_bytes > most_bytes:
            return None
        try:
            return b"".join([chunk async for chunk in self.read(key, part.sha256)])
        except MissingObjectError:
            return None

    async def oldest(self, limit: int, before: datetime | None = None) -> tuple[StoredFolder, ...]:
        """Whole folders of all namespaces, oldest first."""
        return await self._index.oldest(limit, before)

    async def total_bytes(self) -> int:
        """Sum of all whole folders."""
        return await self._index.total_bytes()

    async def wanted_room(self) -> int:
        """Wait until a folder is refused because all folders take too much; its bytes."""
        await self._wants_room.wait()
        self._wants_room.clear()
        wanted, self._wanted_bytes = self._wanted_bytes, 0
        return wanted

    async def remove(self, folder: StoredFolder, *, is_whole: bool = True) -> bool:
        """Remove a folder, and the parts that no other one has.

        ``is_whole``: as it was listed. False: it was renewed or made whole since, or is gone.
        """
        key = FolderKey.of(folder)
        async with self._changing:
            found = await self._index.find(key)
            listed = (folder.created_at, is_whole)
            if found is None or (found[0].created_at, found[1]) != listed:
                return False
            await self._objects.delete(key.note)
            for sha256 in await self._index.remove(key):
                await self._objects.delete(key.blob(sha256))
            return True

    async def reindex(self) -> int:
        """Note in the index what lies in the objects and it does not know; how many folders."""
        count = 0
        async for listed in self._objects.list("folders/"):
            _, namespace_uid, kind, name = listed.key.split("/")
            key = FolderKey(namespace_uid, kind, name.removesuffix(".json"))
            found = await self._index.find(key)
            if found is None or not found[1]:
                count += await self._reindexed(key)
        return count

    async def sweep(self) -> int:
        """Remove what belongs to no folder and is old; how many objects.

        Only after ``reindex``: parts that the index does not know look like nobody's.
        """
        before = self._now() - ORPHANED_AFTER
        for folder in await self._index.unfinished(before):
            await self.remove(folder, is_whole=False)
        count = 0
        old: dict[str, list[str]] = {}
        async for listed in self._objects.list("blobs/"):
            if listed.modified_at < before:
                _, namespace_uid, _, sha256 = listed.key.split("/")
                old.setdefault(namespace_uid, []).append(sha256)
        for namespace_uid, hashes in old.items():
            async with self._changing:
                key = FolderKey(namespace_uid, "", "")
                for sha256 in await self._index.unknown(namespace_uid, hashes):
                    await self._objects.delete(key.blob(sha256))
                    count += 1
        return count

    async def _reindexed(self, key: FolderKey) -> bool:
        """Put a folder back into the index from its note; False: it is not whole."""
        try:
            note = b"".join([chunk async for chunk in self._objects.read(key.note)])
            folder = StoredFolder.model_validate_json(note)
            chunks = [chunk async for chunk in self._objects.read(key.blob(key.digest))]
            manifest = b"".join(chunks)
            made_of = self._parts_of(manifest, key.digest)
            await self._index.begin(folder, made_of)
        except (MissingObjectError, ValidationError, BodyError, ConflictError):
            return False
        await self._index.finish(key, self._now())
        return True

    async def _known(self, key: FolderKey) -> StoredFolder:
        found = await self._index.find(key)
        if found is None:
            raise _not_offered(key)
        return found[0]

    def _require_caught_up(self) -> None:
        if not self.is_open:
            raise StoreError("the index is not open, or is being made again from the store")

    async def _require_room(self, size: int) -> None:
        most = self._limits.total_bytes
        if most is not None and await self._index.total_bytes() + size > most:
            self._wanted_bytes = max(size, self._wanted_bytes)
            self._wants_room.set()
            raise StoreFullError(f"{most} bytes are kept in all; old folders are removed first")

    def _parts_of(self, manifest: bytes, digest: str) -> tuple[Part, ...]:
        return parts_of(read_manifest(manifest, self._limits.parts), digest, len(manifest))

    async def _missing(self, key: FolderKey, made_of: tuple[Part, ...]) -> tuple[str, ...]:
        hashes = sorted({part.sha256 for part in made_of if part.path != MANIFEST})
        sizes = {sha256: await self._objects.size(key.blob(sha256)) for sha256 in hashes}
        return tuple(sha256 for sha256, size in sizes.items() if size is None)

    async def _put(self, key: str, content: bytes) -> None:
        async with spooled(_once(content), None, len(content), self._spool) as file:
            await self._objects.put(key, file)


def _not_offered(key: FolderKey) -> NotOfferedError:
    return NotOfferedError(f"no manifest of {key.kind} {key.digest} is known; send it first")


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
