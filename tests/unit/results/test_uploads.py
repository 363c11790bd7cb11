"""A record's way in: whole or not at all, as often as it is sent."""

import asyncio

import pytest

from builders_results import ARecord, a_record, an_execution
from proctor.api.results import RECORDS, records_of


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


async def test_an_upload_that_stopped_half_way_goes_on_after_a_restart(stopped):
    bench, record = stopped, a_record(a_txt=b"a" * 100_000, b_txt=b"b" * 100_000)
    path = f"{RECORDS}/{record.digest}"
    async with bench.serving():
        await bench.ready()
        _, body = await bench.put(path, record.manifest)
        first = body["missing"][0]
        await bench.put(f"{path}/parts/{first}", record.by_digest[first])
        assert await bench.listed() == []
    async with bench.serving():
        await bench.ready()
        status, body = await bench.put(path, record.manifest)
        assert (status, first in body["missing"]) == (202, False)
        assert (await bench.send(record))[0] == 200
        assert len(await bench.listed()) == 1


async def test_a_record_survives_a_restart(stopped):
    async with stopped.serving():
        await stopped.ready()
        await stopped.send(a_record())
    async with stopped.serving():
        await stopped.ready()
        assert [one["digest"] for one in await stopped.listed()] == [a_record().digest]


async def test_a_manifest_that_is_not_what_its_digest_says_is_refused(bench):
    status, body = await bench.put(f"{RECORDS}/{'0' * 64}", a_record().manifest)
    assert (status, "digest" in body["error"]) == (422, True)


async def test_a_part_with_another_content_is_refused_and_leaves_nothing(bench):
    record = a_record(a_txt=b"right")
    path = f"{RECORDS}/{record.digest}"
    await bench.put(path, record.manifest)
    part = next(sha for sha, data in record.by_digest.items() if data == b"right")

    assert (await bench.put(f"{path}/parts/{part}", b"wrong"))[0] == 422
    assert (await bench.put(f"{path}/parts/{part}", b"right and longer"))[0] == 413

    assert part in (await bench.put(path, record.manifest))[1]["missing"]
    assert await bench.listed() == []


async def test_a_part_that_the_manifest_does_not_name_is_not_taken(bench):
    record = a_record()
    await bench.put(f"{RECORDS}/{record.digest}", record.manifest)
    assert (await bench.put(f"{RECORDS}/{record.digest}/parts/{'1' * 64}", b"x"))[0] == 404


async def test_a_part_that_comes_before_its_manifest_asks_for_it(bench):
    status, body = await bench.put(f"{RECORDS}/{a_record().digest}/parts/{'1' * 64}", b"x")
    assert (status, "send it first" in body["error"]) == (412, True)


async def test_a_record_beyond_the_limit_is_refused_before_it_is_sent(stopped):
    stopped.config["limits"] = {"maxFolderMiB": 1}
    async with stopped.serving():
        await stopped.ready()
        status, body = await stopped.send(a_record(big_bin=b"x" * (1 << 20)))
    assert (status, "at most 1048576" in body["error"]) == (413, True)


async def test_a_record_of_another_trial_or_attempt_is_refused(bench):
    for record in (a_record(uid="trial-2"), a_record(attempt=2)):
        status, body = await bench.send(record)
        assert (status, "the record is of attempt" in body["error"]) == (422, True)
    assert await bench.listed() == []


async def test_an_attempt_that_has_a_record_cannot_bring_another(bench):
    await bench.send(a_record())
    status, _ = await bench.send(a_record(more_txt=b"forged"))
    assert status == 409
    assert [one["digest"] for one in await bench.listed()] == [a_record().digest]


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "a/../../b", "a//b", "", "manifest.json", "a\\b", "./a"]
)
async def test_a_part_outside_its_folder_is_refused(bench, path):
    record = ARecord.of({"execution.json": an_execution(), path: b"x"})
    status, _ = await bench.send(record)
    assert status == 422


async def test_what_is_no_manifest_is_refused(bench):
    for content in (b"", b"[" * 100_000, b'{"parts": 1}', b"\xff", b"null"):
        record = ARecord({}, content, ARecord.of({}).digest)
        status, _ = await bench.put(f"{RECORDS}/{record.digest}", content)
        assert status == 422


async def test_what_an_agent_wrote_is_never_shown_as_a_page(bench):
    record = a_record(a_html=b"<script>alert(1)</script>")
    await bench.send(record)
    url = f"{bench.read_url}{records_of('team')}/{record.digest}/parts/a.html"
    headers = {"X-Proctor-Token": bench.reader}
    async with bench.session.get(url, headers=headers) as answer:
        assert answer.headers["Content-Type"] == "application/octet-stream"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_answers_are_counted_by_port_and_class(bench):
    await bench.send(a_record())
    await bench.put(f"{RECORDS}/nonsense", b"")
    _, text = await bench.get("/metrics")
    assert b'proctor_results_answers_total{port="upload",status="4xx"} 1.0' in text
    assert b'proctor_results_answers_total{port="upload",status="2xx"} 3.0' in text


async def test_a_store_that_is_full_makes_room_and_takes_what_comes_next(stopped):
    stopped.config["retention"] = {"maxTotalMiB": 1}
    async with stopped.serving():
        await stopped.ready()
        old = a_record(old_bin=bytes(700_000))
        assert (await stopped.send(old))[0] == 200
        stopped.api.add_trial("r-def", attempt=1, uid="trial-2", runUid="run-2")
        token = stopped.api.issue(
            "t2", "proctor-results", pod="r-def-1", account="team:proctor-trial"
        )
        new = a_record(uid="trial-2", new_bin=b"n" * 700_000)
        stopped.api.runs["team"] = [{"metadata": {"uid": "run-uid"}}]
        assert (await stopped.send(new, token))[0] == 507
        assert [one["digest"] for one in await stopped.listed()] == [old.digest]

        stopped.api.runs["team"] = []
        async with asyncio.timeout(20):
            while (await stopped.send(new, token))[0] != 200:  # noqa: ASYNC110 - as grade does
                await asyncio.sleep(0.1)
        assert [one["digest"] for one in await stopped.listed()] == [new.digest]
        assert (await stopped.send(new, token))[0] == 200
