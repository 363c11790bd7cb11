"""Bundles: sent by whoever may create runs, and read by the operator alone."""

import asyncio
import hashlib
import json

import pytest

from builders_results import WRITER, a_bundle
from proctor.api.results import AUDIENCE, MAX_BUNDLE_BYTES, RECORDS, bundles_of

TEAM = bundles_of("team")


async def test_a_bundle_that_was_sent_is_read_by_the_operator_byte_for_byte(bench):
    bundle = a_bundle()
    assert (await bench.push(bundle))[0] == 200
    base = f"{TEAM}/{bundle.digest}"
    assert await bench.get(base, bench.operator) == (200, bundle.manifest)
    for path, content in bundle.parts.items():
        assert await bench.get(f"{base}/parts/{path}", bench.operator) == (200, content)


async def test_it_stands_in_no_list_of_records(bench):
    await bench.push(a_bundle())
    assert await bench.listed() == []


async def test_sending_it_again_changes_nothing_and_sends_no_part(bench):
    bundle = a_bundle()
    await bench.push(bundle)
    status, said = await bench.put_read(f"{TEAM}/{bundle.digest}", bundle.manifest)
    assert (status, said["missing"]) == (200, [])


@pytest.mark.parametrize(
    ("verb", "resource"),
    [
        pytest.param("get", "evaltrials", id="who-reads-trials"),
        pytest.param("get", "evalruns", id="who-reads-runs"),
        pytest.param("update", "evalruns", id="who-changes-runs"),
        pytest.param("create", "evaltrials", id="who-creates-something-else"),
    ],
)
async def test_only_who_may_create_runs_sends(bench, verb, resource):
    token = bench.api.issue("other", AUDIENCE, account="team:other")
    bench.api.allow("team:other", verb, resource, "team")
    status, said = await bench.push(a_bundle(), token=token)
    assert (status, "may not create evalruns in namespace team" in said["error"]) == (403, True)


async def test_who_may_create_runs_in_one_namespace_sends_to_no_other(bench):
    bench.api.namespaces["rivals"] = "rivals-uid"
    status, _ = await bench.push(a_bundle(), namespace="rivals")
    assert status == 403


async def test_a_trials_token_sends_no_bundle_whatever_it_is_allowed(bench):
    bench.api.allow("team:proctor-trial", "create", "evalruns", "team")
    assert (await bench.push(a_bundle(), token=bench.grade))[0] == 403


async def test_a_token_for_another_server_sends_nothing(bench):
    token = bench.api.issue("other", "proctor-gateway-agent", account=WRITER)
    assert (await bench.push(a_bundle(), token=token))[0] == 401


async def test_the_port_that_trials_reach_takes_no_bundle_and_shows_none(bench):
    bundle = a_bundle()
    await bench.push(bundle)
    for base in (TEAM, RECORDS.replace("records", "bundles")):
        status, _ = await bench.put(f"{base}/{bundle.digest}", bundle.manifest, bench.writer)
        assert status == 404
        url = f"{bench.upload_url}{base}/{bundle.digest}"
        headers = {"Authorization": f"Bearer {bench.operator}"}
        async with bench.session.get(url, headers=headers) as answer:
            assert answer.status in (404, 405)


async def test_nobody_but_the_operator_reads_a_bundle(bench):
    bundle = a_bundle()
    await bench.push(bundle)
    for account in (
        WRITER,
        "team:reader",
        "proctor-system:proctor-gateway",
        "team:proctor-operator",
    ):
        token = bench.api.issue(f"token-{account}", AUDIENCE, account=account)
        bench.api.allow(account, "get", "evaltrials", "team")
        bench.api.allow(account, "create", "evalruns", "team")
        for path in ("", "/parts/hidden.json", "/parts/tasks.json"):
            status, _ = await bench.get(f"{TEAM}/{bundle.digest}{path}", token)
            assert status == 403


async def test_without_an_operator_in_the_configuration_nobody_reads(stopped):
    del stopped.config["operatorServiceAccount"]
    async with stopped.serving():
        await stopped.ready()
        await stopped.push(a_bundle())
        status, _ = await stopped.get(f"{TEAM}/{a_bundle().digest}", stopped.operator)
        assert status == 403


async def test_the_operators_token_reads_no_records_and_sends_nothing(bench):
    assert (await bench.get("/proctor/v1/namespaces/team/records", bench.operator))[0] == 403
    assert (await bench.push(a_bundle(), token=bench.operator))[0] == 403


async def test_a_bundle_of_another_namespace_is_not_found(bench):
    bench.api.namespaces["rivals"] = "rivals-uid"
    bundle = a_bundle()
    await bench.push(bundle)
    status, said = await bench.get(f"{bundles_of('rivals')}/{bundle.digest}", bench.operator)
    assert (status, b"there is no bundle" in said) == (404, True)


async def test_a_namespace_that_was_made_again_has_none_of_the_old_bundles(bench):
    bundle = a_bundle()
    await bench.push(bundle)
    bench.api.namespaces["team"] = "another-uid"
    assert (await bench.get(f"{TEAM}/{bundle.digest}", bench.operator))[0] == 404


async def test_half_a_bundle_is_none(bench):
    bundle = a_bundle()
    status, said = await bench.put_read(f"{TEAM}/{bundle.digest}", bundle.manifest)
    assert (status, len(said["missing"])) == (202, 2)
    assert (await bench.get(f"{TEAM}/{bundle.digest}", bench.operator))[0] == 404


def a_manifest(**parts):
    body = {
        "schemaVersion": "1.0",
        "producer": "x",
        "parts": [
            {"path": path.replace("_", "."), "sha256": "d" * 64, "size": size}
            for path, size in parts.items()
        ],
    }
    return json.dumps(body).encode()


@pytest.mark.parametrize(
    ("manifest", "status", "said"),
    [
        pytest.param(a_manifest(tasks_json=1), 422, "has the parts", id="a-part-is-missing"),
        pytest.param(
            a_manifest(tasks_json=1, hidden_json=1, key_pem=1), 413, "at most 2", id="one-more"
        ),
        pytest.param(a_manifest(tasks_json=1, other_json=1), 422, "has the parts", id="other"),
        pytest.param(
            a_manifest(tasks_json=MAX_BUNDLE_BYTES, hidden_json=1), 413, "at most", id="too-large"
        ),
        pytest.param(b"[]", 422, "not a manifest", id="no-manifest"),
    ],
)
async def test_what_the_operator_would_not_read_is_not_taken(bench, manifest, status, said):
    digest = hashlib.sha256(manifest).hexdigest()
    answer, body = await bench.put_read(f"{TEAM}/{digest}", manifest)
    assert (answer, said in body["error"]) == (status, True)


async def test_a_bundle_survives_a_restart_and_a_lost_index(stopped):
    bundle = a_bundle()
    async with stopped.serving():
        await stopped.ready()
        await stopped.push(bundle)
    for file in (stopped.folder / "data").glob("index.sqlite*"):
        file.unlink()
    async with stopped.serving():
        await stopped.ready()
        base = f"{TEAM}/{bundle.digest}"
        assert await stopped.get(base, stopped.operator) == (200, bundle.manifest)


async def test_while_the_index_is_not_open_nobody_is_told_that_a_bundle_is_missing(bench):
    await bench.push(a_bundle())
    for file in (bench.folder / "data").glob("index.sqlite*"):
        file.unlink()
    seen = set()
    async with asyncio.timeout(20):
        while 200 not in seen:
            seen.add((await bench.get(f"{TEAM}/{a_bundle().digest}", bench.operator))[0])
            await asyncio.sleep(0.02)
    assert seen <= {503, 200}
