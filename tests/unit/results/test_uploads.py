"""A record's way in, and who may bring it."""

import asyncio
import json

import pytest
import pytest_asyncio

from builders_results import a_record, a_results_bench, an_execution, ARecord
from proctor.api.results import AUDIENCE, RECORDS, records_of


@pytest_asyncio.fixture
async def bench(tmp_path):
    async with a_results_bench(tmp_path) as bench, bench.serving():
        await bench.ready()
        yield bench


async def test_a_record_that_was_sent_is_listed_and_read_byte_for_byte(bench):
    record = a_record(transcript_jsonl=b'{"event": "Said"}\n', evidence__checks_json=b"{}")

    assert (await bench.send(record))[0] == 200

    (item,) = await bench.listed("?run=r")
    assert item["digest"] == record.digest
    assert (item["trial"]["name"], item["trial"]["attempt"]) == ("r-abc", 1)
    base = f"{records_of('team')}/{record.digest}"
    assert await bench.get(base) == (200, record.manifest)
    for path, data in record.parts.items():
        assert await bench.get(f"{base}/parts/{path}") == (200, data)


async def test_sending_again_changes_nothing_and_needs_one_request(bench):
    record = a_record()
    await bench.send(record)

    status, body = await bench.put(f"{RECORDS}/{record.digest}", record.manifest)

    assert (status, body["missing"]) == (200, [])
    assert len(await bench.listed()) == 1


async def test_an_upload_that_stopped_half_way_goes_on_after_a_restart(tmp_path):
    record = a_record(a_txt=b"a" * 100_000, b_txt=b"b" * 100_000)
    path = f"{RECORDS}/{record.digest}"
    async with a_results_bench(tmp_path) as bench:
        async with bench.serving():
            await bench.ready()
            _, body = await bench.put(path, record.manifest)
            first = body["missing"][0]
            by_digest = {p.sha: p.data for p in parts(record)}
            await bench.put(f"{path}/parts/{first}", by_digest[first])
            assert await bench.listed() == []
        async with bench.serving():
            await bench.ready()
            status, body = await bench.put(path, record.manifest)
            assert (status, first in body["missing"]) == (202, False)
            assert (await bench.send(record))[0] == 200
            assert len(await bench.listed()) == 1


class parts(list):
    def __init__(self, record):
        import hashlib
        from types import SimpleNamespace

        super().__init__(
            SimpleNamespace(sha=hashlib.sha256(d).hexdigest(), data=d)
            for d in record.parts.values()
        )
