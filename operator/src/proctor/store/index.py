"""The index: which folders there are, whose, and what they are made of. SQLite or PostgreSQL.

Everything in it can be made again from the store, so losing it loses nothing.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any, TypeVar

from alembic.util import CommandError
from sqlalchemy import (
    Connection,
    Engine,
    Select,
    create_engine,
    delete,
    event,
    func,
    insert,
    select,
    update,
)
from sqlalchemy.exc import SQLAlchemyError

from proctor.api.stored import StoredFolder, StoredTrial
from proctor.store.folders import ConflictError, FolderKey, Part
from proctor.store.migrate import migrate
from proctor.store.objects import StoreError
from proctor.store.rows import folder_of, is_folder, values_of
from proctor.store.tables import folders, parts

Result = TypeVar("Result")

_CONNECTIONS = 4
_IN_LIST = 500
"""Values in one question: SQLite takes 32,766, PostgreSQL 65,535."""
_CONNECT: Mapping[str, int] = {
    "connect_timeout": 5,
    # A server that no longer answers at all: what was sent is given up after ten seconds, and
    # an answer that is waited for after twenty-five.
    "tcp_user_timeout": 10_000,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}
"""Of libpq; seconds, but for ``tcp_user_timeout`` in milliseconds."""


class SqlIndex:
    """The index in a database.

    Args:
        url: ``sqlite:////var/lib/index.sqlite`` or ``postgresql+psycopg://user:password@host/db``.
    """

    def __init__(self, url: str) -> None:
        self._engine = _engine(url)
        self._threads = ThreadPoolExecutor(_CONNECTIONS, "index")
        self.is_open = False

    async def open(self) -> None:
        """Bring the tables up to date; ``StoreError`` while the database cannot be used."""
        await self._run(migrate)
        self.is_open = True

    async def close(self) -> None:
        """End all connections, also of work that nobody waits for any more."""
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()

    async def begin(self, folder: StoredFolder, made_of: Sequence[Part]) -> None:
        """Note what is about to come; what is noted already stays as it is.

        Raises:
            ConflictError: The attempt has another record.
        """
        await self._run(lambda connection: _begin(connection, folder, made_of))

    async def finish(self, key: FolderKey, stored_at: datetime) -> bool:
        """All parts are there, and since when if that was not noted before.

        False: there is no such folder.
        """
        since = func.coalesce(folders.c.stored_at, stored_at)
        query = update(folders).where(*is_folder(key)).values(stored_at=since)
        return await self._run(lambda connection: connection.execute(query).rowcount > 0)

    async def renew(self, key: FolderKey, created_at: datetime) -> None:
        """Count a folder's age from now on; an index that is made again counts from its note."""
        query = update(folders).where(*is_folder(key)).values(created_at=created_at)
        await self._run(lambda connection: connection.execute(query))

    async def find(self, key: FolderKey) -> tuple[StoredFolder, bool] | None:
        """A folder, and whether all of it is there; None: there is none."""
        row = await self._run(
            lambda c: c.execute(select(folders).where(*is_folder(key))).mappings().first()
        )
        return None if row is None else (folder_of(row), row["stored_at"] is not None)

    async def parts(self, key: FolderKey) -> tuple[Part, ...]:
        """The parts of a folder by path; none when there is no such folder."""
        query = select(parts).join(folders).where(*is_folder(key)).order_by(parts.c.path)
        rows = await self._run(lambda connection: connection.execute(query).mappings().all())
        return tuple(Part(row["path"], row["sha256"], row["size_bytes"]) for row in rows)

    async def stored(
        self, namespace_uid: str, kind: str, run: str | None = None
    ) -> tuple[StoredFolder, ...]:
        """Folders of a namespace that are whole, oldest first; of one run when it is named."""
        query = select(folders).where(
            folders.c.namespace_uid == namespace_uid,
            folders.c.kind == kind,
            folders.c.stored_at.is_not(None),
        )
        if run is not None:
            query = query.where(folders.c.run == run)
        return await self._folders(query.order_by(folders.c.created_at, folders.c.id))

    async def oldest(self, limit: int, before: datetime | None = None) -> tuple[StoredFolder, ...]:
        """Whole folders of all namespaces, oldest first; only those made before a time."""
        query = select(folders).where(folders.c.stored_at.is_not(None))
        if before is not None:
            query = query.where(folders.c.created_at < before)
        return await self._folders(query.order_by(folders.c.created_at, folders.c.id).limit(limit))

    async def unfinished(self, before: datetime) -> tuple[StoredFolder, ...]:
        """Folders that were begun before a time and never became whole."""
        query = select(folders).where(folders.c.stored_at.is_(None))
        return await self._folders(query.where(folders.c.created_at < before))

    async def total_bytes(self) -> int:
        """Sum of all whole folders; a part that several share counts for each."""
        query = select(func.sum(folders.c.size_bytes)).where(folders.c.stored_at.is_not(None))
        return int(await self._run(lambda connection: connection.execute(query).scalar()) or 0)

    async def remove(self, key: FolderKey) -> frozenset[str]:
        """Forget a folder; the SHA-256 of parts that no other folder of its namespace has."""
        return await self._run(lambda connection: _remove(connection, key))

    async def unknown(self, namespace_uid: str, hashes: Collection[str]) -> frozenset[str]:
        """Those parts that no folder of the namespace has."""
        known = await self._run(lambda connection: _known(connection, namespace_uid, hashes))
        return frozenset(hashes) - known

    async def _folders(self, query: Select[Any]) -> tuple[StoredFolder, ...]:
        rows = await self._run(lambda connection: connection.execute(query).mappings().all())
        return tuple(folder_of(row) for row in rows)

    async def _run(self, work: Callable[[Connection], Result]) -> Result:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._work, work)

    def _work(self, work: Callable[[Connection], Result]) -> Result:
        try:
            with self._engine.begin() as connection:
                return work(connection)
        except (SQLAlchemyError, CommandError, OSError) as error:
            self.is_open = False
            # A pool may hold connections to what is gone: a deleted file, a dropped database.
            self._engine.dispose()
            raise StoreError(f"the index: {_words(error)}") from None


def _engine(url: str) -> Engine:
    if not url.startswith("sqlite"):
        return create_engine(
            url, pool_pre_ping=True, pool_size=_CONNECTIONS, connect_args=dict(_CONNECT)
        )
    engine = create_engine(url, connect_args={"timeout": 10})

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _: object) -> None:
        for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON"):
            connection.execute(f"PRAGMA {pragma}")

    return engine


def _begin(connection: Connection, folder: StoredFolder, made_of: Sequence[Part]) -> None:
    key = FolderKey.of(folder)
    if connection.execute(select(folders.c.id).where(*is_folder(key))).first() is not None:
        return
    if folder.trial is not None:
        _replace(connection, folder.trial)
    row = connection.execute(insert(folders).values(**values_of(folder))).inserted_primary_key
    assert row is not None
    lines = [
        {
            "folder_id": row[0],
            "path": part.path,
            "sha256": part.sha256,
            "size_bytes": part.size_bytes,
        }
        for part in made_of
    ]
    connection.execute(insert(parts), lines)


def _replace(connection: Connection, trial: StoredTrial) -> None:
    """An attempt has one record: another that never became whole gives way."""
    same = (folders.c.trial_uid == trial.uid, folders.c.attempt == trial.attempt)
    query = select(folders.c.digest).where(*same, folders.c.stored_at.is_not(None))
    other = connection.execute(query).first()
    if other is not None:
        raise ConflictError(f"attempt {trial.attempt} of {trial.name} has record {other[0]}")
    connection.execute(delete(folders).where(*same))


def _remove(connection: Connection, key: FolderKey) -> frozenset[str]:
    query = select(parts.c.sha256).join(folders).where(*is_folder(key))
    hashes = frozenset(connection.execute(query).scalars())
    connection.execute(delete(folders).where(*is_folder(key)))
    return hashes - _known(connection, key.namespace_uid, hashes)


def _known(connection: Connection, namespace_uid: str, hashes: Iterable[str]) -> frozenset[str]:
    known: set[str] = set()
    for group in _groups(sorted(set(hashes))):
        query = (
            select(parts.c.sha256)
            .join(folders)
            .where(folders.c.namespace_uid == namespace_uid, parts.c.sha256.in_(group))
        )
        known |= set(connection.execute(query).scalars())
    return frozenset(known)


def _groups(values: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(values), _IN_LIST):
        yield values[start : start + _IN_LIST]


def _words(error: Exception) -> str:
    """What the database says, in one line; SQLAlchemy adds the statement and its values."""
    said = getattr(error, "orig", None) or error
    return f"{type(said).__name__}: {' '.join(str(said).split())[:200]}"
