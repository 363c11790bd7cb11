"""What retention removes, and what it never does."""

from datetime import UTC, datetime, timedelta

import pytest_asyncio

from builders_results import a_bundle, a_record
from proctor.api.stored import StoredFolder, StoredTrial
from proctor.results.retention import Policy, Retention
from proctor.store.file_objects import FileObjects
from proctor.store.folders import FolderKey
from proctor.store.index import SqlIndex
from proctor.store.store import Limits, Store

NOW = datetime(2026, 1, 31, 9, tzinfo=UTC)
DAY = timedelta(days=1)


class Bench:
    def __init__(self, folder):
        self.moment = NOW
        index = SqlIndex(f"sqlite:///{folder / 'index.sqlite'}")
        self.index = index
        self.files = folder / "objects"
        objects = FileObjects(self.files)
        self.store = Store(objects, index, folder / "spool", Limits(), lambda: self.moment)
        self.unfinished = {}

    async def runs(self, namespace):
        return self.unfinished.get(namespace, [])

    async def put(self, name, *, age=timedelta(0), **parts):
        record = a_record(uid=name, **parts)
        trial = StoredTrial(
            name=name, uid=name, attempt=1, run="r", run_uid=f"uid-of-{name}", task="t",
            variant="v", repeat=0,
        )  # fmt: skip
        folder = StoredFolder(
            kind="record",
            namespace="team",
            namespace_uid="team-uid",
            digest=record.digest,
            size_bytes=0,
            created_at=NOW - age,
            trial=trial,
        )
        for sha256 in await self.store.offer(folder, record.manifest):
            await self.store.take(FolderKey.of(folder), sha256, once(record.by_digest[sha256]))
        await self.store.finish(folder)
        return record

    async def push(self, *names, age=timedelta(0)):
        bundle = a_bundle(*names)
        folder = StoredFolder(
            kind="bundle",
            namespace="team",
            namespace_uid="team-uid",
            digest=bundle.digest,
            size_bytes=0,
            created_at=NOW - age,
        )
        for sha256 in await self.store.offer(folder, bundle.manifest):
            await self.store.take(FolderKey.of(folder), sha256, once(bundle.by_digest[sha256]))
        await self.store.finish(folder)
        return folder

    async def left(self):
        return [one.trial.name if one.trial else one.digest for one in await self.store.oldest(99)]

    async def run(self, **policy):
        return await Retention(self.store, self, Policy(**policy), lambda: self.moment).run()

    def blobs(self):
        return sum(path.is_file() for path in (self.files / "blobs").rglob("*"))


async def once(data):
    yield data


@pytest_asyncio.fixture
async def bench(tmp_path):
    bench = Bench(tmp_path)
    await bench.store.clear()
    await bench.store.open()
    yield bench
    await bench.index.close()


def a_run(uid, complete=False):
    conditions = [{"type": "Complete", "status": "True" if complete else "False"}]
    return {"metadata": {"uid": uid}, "status": {"conditions": conditions}}


async def test_without_a_policy_nothing_goes(bench):
    await bench.put("a", age=1000 * DAY)
    assert await bench.run() == 0
    assert await bench.left() == ["a"]


async def test_what_is_too_old_goes_with_its_parts(bench):
    await bench.put("old", age=31 * DAY, own_txt=b"old")
    await bench.put("young", age=29 * DAY)
    before = bench.blobs()

    assert await bench.run(max_age=30 * DAY) == 1

    assert await bench.left() == ["young"]
    assert bench.blobs() == before - 3  # manifest, execution, own.txt


async def test_a_part_that_another_record_has_stays(bench):
    await bench.put("old", age=31 * DAY, same_txt=b"same")
    young = await bench.put("young", same_txt=b"same")
    await bench.run(max_age=30 * DAY)
    key = FolderKey("team-uid", "record", young.digest)
    (part,) = [one for one in await bench.store.parts(key) if one.path == "same.txt"]
    assert await bench.store.content(key, part, 99) == b"same"


async def test_the_oldest_go_until_the_rest_fits(bench):
    for age, name in enumerate("cba"):
        await bench.put(name, age=age * DAY, x_bin=name.encode() * 10_000)
    assert await bench.run(max_total_bytes=25_000) == 1
    assert await bench.left() == ["b", "c"]


async def test_records_of_a_run_that_goes_on_stay_however_old(bench):
    await bench.put("a", age=90 * DAY)
    bench.unfinished["team"] = [a_run("uid-of-a")]
    assert await bench.run(max_age=DAY, max_total_bytes=1) == 0
    bench.unfinished["team"] = [a_run("uid-of-a", complete=True)]
    assert await bench.run(max_age=DAY) == 1


async def test_a_bundle_stays_while_a_run_that_goes_on_names_it(bench):
    used, unused = await bench.push("a", age=90 * DAY), await bench.push("b", age=90 * DAY)
    named = {"tasksFrom": [{"bundle": {"digest": f"sha256:{used.digest}"}}]}
    bench.unfinished["team"] = [{**a_run("uid"), "spec": named}]
    assert await bench.run(max_age=DAY, max_total_bytes=1) == 1
    assert await bench.left() == [used.digest]
    bench.unfinished["team"] = [{**a_run("uid", complete=True), "spec": named}]
    assert await bench.run(max_age=DAY) == 1
    assert unused.digest != used.digest


async def test_the_age_of_a_bundle_counts_from_when_it_was_last_pushed(bench):
    folder = await bench.push("a", age=90 * DAY)
    await bench.store.renew(FolderKey.of(folder))
    assert await bench.run(max_age=DAY) == 0
    bench.moment = NOW + 2 * DAY
    assert await bench.run(max_age=DAY) == 1


async def test_a_bundle_that_is_pushed_again_while_retention_looks_stays(bench):
    folder = await bench.push("a", age=90 * DAY)
    (listed,) = await bench.store.oldest(1)
    await bench.store.renew(FolderKey.of(folder))
    assert not await bench.store.remove(listed)
    assert await bench.left() == [folder.digest]


async def test_a_bundle_that_becomes_whole_while_sweeping_looks_stays(bench):
    folder = await bench.push("a", age=90 * DAY)
    (listed,) = await bench.store.oldest(1)
    assert not await bench.store.remove(listed, is_whole=False)
    assert await bench.left() == [folder.digest]


async def test_sweeping_removes_what_belongs_to_nothing_after_a_day(bench):
    record = a_record(uid="gone", x_txt=b"half")
    folder = StoredFolder(
        kind="record", namespace="team", namespace_uid="team-uid", digest=record.digest,
        size_bytes=0, created_at=NOW,
        trial=StoredTrial(name="gone", uid="gone", attempt=1, run="r", run_uid="u", task="t",
                          variant="v", repeat=0),
    )  # fmt: skip
    await bench.store.offer(folder, record.manifest)
    await bench.put("whole")
    assert await bench.store.sweep() == 0
    half = bench.blobs()

    bench.moment = datetime.now(UTC) + 2 * DAY
    await bench.store.sweep()

    assert await bench.left() == ["whole"]
    assert bench.blobs() == half - 1


async def test_sweeping_keeps_every_whole_record(bench):
    await bench.put("whole", x_txt=b"x")
    before = bench.blobs()
    bench.moment = datetime.now(UTC) + 2 * DAY
    assert await bench.store.sweep() == 0
    assert bench.blobs() == before
