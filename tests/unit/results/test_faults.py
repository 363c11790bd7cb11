"""What breaks under the server: nothing half, nothing lost, and it heals."""

import asyncio
import shutil
import sqlite3

from builders_results import a_record
from fakes.s3 import BUCKET, running_s3
from postgres import NoPostgresError, running_postgres, skip_unless_required
from proctor.api.results import MANIFEST_FIRST, RECORDS, records_of


async def sent(bench, record):
    """As grade does: again until it is taken."""
    async with asyncio.timeout(20):
        while (status := (await bench.send(record))[0]) in (503, 507):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    return status


async def test_a_lost_index_is_made_again_from_the_store(stopped):
    async with stopped.serving():
        await stopped.ready()
        await stopped.send(a_record(a_txt=b"kept"))
    for file in (stopped.folder / "data").glob("index.sqlite*"):
        file.unlink()
    async with stopped.serving():
        await stopped.ready()
        (item,) = await stopped.listed("?run=r")
        assert item["trial"]["name"] == "r-abc"
        path = f"{records_of('team')}/{item['digest']}/parts/a.txt"
        assert await stopped.get(path) == (200, b"kept")


async def test_an_index_that_vanishes_while_it_runs_comes_back_with_all_records(bench):
    await bench.send(a_record())
    for file in (bench.folder / "data").glob("index.sqlite*"):
        file.unlink()

    bench.api.add_trial("r-def", attempt=1, uid="trial-2", runUid="run-uid")
    token = bench.api.issue("t2", "proctor-results", pod="r-def-1", account="team:proctor-trial")
    record = a_record(uid="trial-2")
    async with asyncio.timeout(20):
        while (await bench.send(record, token))[0] != 200:  # noqa: ASYNC110 - as grade does
            await asyncio.sleep(0.05)
    await bench.ready()
    assert {one["digest"] for one in await bench.listed()} == {record.digest, a_record().digest}


async def test_a_part_whose_manifest_went_with_the_index_asks_for_it_again(stopped):
    record = a_record(a_txt=b"kept")
    path = f"{RECORDS}/{record.digest}"
    async with stopped.serving():
        await stopped.ready()
        missing = (await stopped.put(path, record.manifest))[1]["missing"]
    for file in (stopped.folder / "data").glob("index.sqlite*"):
        file.unlink()
    async with stopped.serving():
        await stopped.ready()
        status, _ = await stopped.put(f"{path}/parts/{missing[0]}", record.by_digest[missing[0]])
        assert status == MANIFEST_FIRST
        assert (await stopped.send(record))[0] == 200


async def test_a_database_that_is_locked_is_no_reason_to_lose_anything(bench):
    other = sqlite3.connect(bench.folder / "data" / "index.sqlite")
    other.execute("BEGIN EXCLUSIVE")
    task = asyncio.create_task(sent(bench, a_record()))
    await asyncio.sleep(0.2)
    other.rollback()
    other.close()
    assert await task == 200


async def test_a_record_in_a_bucket_is_read_after_the_volume_was_lost(stopped):
    with running_s3() as settings:
        stopped.config["bucket"] = {"url": f"s3://{BUCKET}/proctor", "config": settings}
        async with stopped.serving():
            await stopped.ready()
            assert await sent(stopped, a_record(a_txt=b"kept")) == 200
        shutil.rmtree(stopped.folder / "data")
        async with stopped.serving():
            await stopped.ready()
            (item,) = await stopped.listed()
            path = f"{records_of('team')}/{item['digest']}/parts/a.txt"
            assert await stopped.get(path) == (200, b"kept")


async def test_a_server_whose_database_is_not_there_yet_waits_for_it(stopped):
    stopped.environment["PROCTOR_RESULTS_INDEX_URL"] = f"postgresql://p@/p?host={stopped.folder}"
    async with stopped.serving():
        status, body = await stopped.put(f"{RECORDS}/{a_record().digest}", a_record().manifest)
        assert (status, "the index" in body["error"]) == (503, True)
        assert (await stopped.get("/readyz"))[0] == 503
        assert (await stopped.get("/healthz"))[0] == 200


async def test_a_postgresql_that_is_stopped_and_started_costs_no_record(stopped):
    try:
        with running_postgres() as url:
            stopped.environment["PROCTOR_RESULTS_INDEX_URL"] = url
            async with stopped.serving():
                await stopped.ready()
                assert await sent(stopped, a_record()) == 200
    except NoPostgresError as error:
        skip_unless_required(error)
    with running_postgres() as url:  # another, empty one
        stopped.environment["PROCTOR_RESULTS_INDEX_URL"] = url
        async with stopped.serving():
            await stopped.ready()
            assert [one["digest"] for one in await stopped.listed()] == [a_record().digest]
