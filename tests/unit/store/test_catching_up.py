"""An index that was lost says nothing until it knows again all that lies in the store."""

from contextlib import asynccontextmanager
from datetime import UTC, datetime

import pytest

from builders_results import a_record
from proctor.api.stored import StoredFolder, StoredTrial
from proctor.store.file_objects import FileObjects
from proctor.store.folders import FolderKey, NotOfferedError
from proctor.store.index import SqlIndex
from proctor.store.objects import StoreError
from proctor.store.store import Limits, Store

NOW = datetime(2026, 1, 31, 9, tzinfo=UTC)
RECORD = a_record()
FOLDER = StoredFolder(
    kind="record", namespace="team", namespace_uid="team-uid", digest=RECORD.digest, size_bytes=0,
    created_at=NOW,
    trial=StoredTrial(name="r-abc", uid="trial-1", attempt=1, run="r", run_uid="u", task="t",
                      variant="v", repeat=0),
)  # fmt: skip
KEY = FolderKey.of(FOLDER)


@asynccontextmanager
async def a_store(folder, index_name):
    """A store over the folder's objects, with an index of this name; neither is open."""
    index = SqlIndex(f"sqlite:///{folder / index_name}")
    objects = FileObjects(folder / "objects")
    yield Store(objects, index, folder / "spool", Limits(), lambda: NOW), index
    await index.close()


async def once(data):
    yield data


async def put_record(folder):
    async with a_store(folder, "first.sqlite") as (store, _):
        await store.clear()
        await store.open()
        for sha256 in await store.offer(FOLDER, RECORD.manifest):
            await store.take(KEY, sha256, once(RECORD.by_digest[sha256]))
        await store.finish(FOLDER)


async def test_what_an_index_does_not_know_yet_is_not_called_missing(tmp_path):
    await put_record(tmp_path)
    async with a_store(tmp_path, "second.sqlite") as (store, index):
        await index.open()
        with pytest.raises(StoreError, match="made again"):
            await store.stored("team-uid", "record")
        with pytest.raises(StoreError, match="made again"):
            await store.find(KEY)

        await store.open()
        assert [one.digest for one in await store.stored("team-uid", "record")] == [RECORD.digest]
        assert await store.find(KEY) is not None


async def test_a_folder_that_went_with_its_index_is_asked_for_again(tmp_path):
    async with a_store(tmp_path, "first.sqlite") as (store, _):
        await store.clear()
        await store.open()
        missing = await store.offer(FOLDER, RECORD.manifest)
    async with a_store(tmp_path, "second.sqlite") as (store, _):
        await store.open()
        for asked in (
            store.take(KEY, missing[0], once(RECORD.by_digest[missing[0]])),
            store.parts(KEY),
            store.finish(FOLDER),
        ):
            with pytest.raises(NotOfferedError, match="send it first"):
                await asked


async def test_what_is_in_no_store_is_missing_once_the_index_is_made(tmp_path):
    await put_record(tmp_path)
    async with a_store(tmp_path, "second.sqlite") as (store, _):
        await store.open()
        assert await store.find(FolderKey("team-uid", "record", "f" * 64)) is None
