"""Who may send a record, and who may read one."""

import logging

import pytest

from builders_results import READER, a_record
from proctor.api.results import AUDIENCE, RECORDS, records_of

PATH = f"{RECORDS}/{a_record().digest}"


async def sending(bench, token):
    status, body = await bench.put(PATH, a_record().manifest, token)
    return status, body.get("error", "")


@pytest.mark.parametrize(
    ("issued", "status"),
    [
        pytest.param({"audiences": ["proctor-gateway-judge"]}, 401, id="another-audience"),
        pytest.param({"pod": None}, 403, id="bound-to-no-pod"),
        pytest.param({"pod": "r-abc-2"}, 403, id="of-an-attempt-that-is-not-the-current-one"),
        pytest.param({"pod": "other-1"}, 403, id="of-no-trial"),
        pytest.param({"pod": "webserver"}, 403, id="of-a-pod-that-is-no-trial"),
        pytest.param({"account": "team:default"}, 403, id="of-another-service-account"),
        pytest.param({"account": "other:proctor-trial"}, 403, id="of-another-namespace"),
    ],
)
async def test_only_the_current_attempts_own_token_sends(bench, issued, status):
    given = {"audiences": [AUDIENCE], "pod": "r-abc-1", "account": "team:proctor-trial", **issued}
    audiences = given.pop("audiences")
    token = bench.api.issue("t", *audiences, **given)
    assert (await sending(bench, token))[0] == status


async def test_an_unknown_token_and_none_at_all_are_refused(bench):
    assert (await sending(bench, "stolen"))[0] == 401
    async with bench.session.put(bench.upload_url + PATH, data=b"") as answer:
        assert answer.status == 401


async def test_a_replaced_attempt_is_refused_at_once(bench):
    assert (await sending(bench, bench.grade))[0] == 202
    bench.api.add_trial("r-abc", attempt=2, runUid="run-uid")
    status, why = await sending(bench, bench.grade)
    assert (status, why) == (403, "attempt 1 is not the current one, 2")


async def test_the_token_of_a_trial_that_has_ended_sends_nothing(bench):
    """Its pod may be kept, and its token is good for as long."""
    bench.api.end_trial("r-abc", "Passed")
    assert await sending(bench, bench.grade) == (403, "the trial has ended")
    assert await bench.listed() == []


async def test_a_replaced_attempt_may_send_parts_for_a_moment_but_no_record(bench):
    record = a_record(a_txt=b"late")
    path = f"{RECORDS}/{record.digest}"
    missing = (await bench.put(path, record.manifest))[1]["missing"]
    bench.api.add_trial("r-abc", attempt=2, runUid="run-uid")
    for sha256 in missing:
        assert (await bench.put(f"{path}/parts/{sha256}", record.by_digest[sha256]))[0] == 204
    assert (await bench.put(path, record.manifest))[0] == 403
    assert await bench.listed() == []


async def test_a_trials_token_reads_nothing_whatever_it_is_allowed(bench):
    bench.api.allow("team:proctor-trial", "get", "evaltrials", "team")
    status, _ = await bench.get(records_of("team"), bench.grade)
    assert status == 403


async def test_the_upload_port_has_nothing_to_read(bench):
    await bench.send(a_record())
    headers = {"Authorization": f"Bearer {bench.reader}"}
    for path in (records_of("team"), "/metrics", "/readyz", PATH):
        async with bench.session.get(bench.upload_url + path, headers=headers) as answer:
            assert answer.status in (404, 405)


async def test_the_read_port_takes_no_record(bench):
    async with bench.session.put(
        bench.read_url + PATH,
        data=a_record().manifest,
        headers={"Authorization": f"Bearer {bench.grade}"},
    ) as answer:
        assert answer.status == 404


async def test_reading_needs_get_evaltrials_in_the_namespace(bench):
    stranger = bench.api.issue("stranger", AUDIENCE, account="other:somebody")
    assert (await bench.get(records_of("team"), stranger))[0] == 403
    bench.api.namespaces["other"] = "other-uid"
    assert (await bench.get(records_of("other")))[0] == 403


async def test_the_next_namespace_of_the_same_name_inherits_nothing(bench):
    await bench.send(a_record())
    assert len(await bench.listed()) == 1
    bench.api.namespaces["team"] = "another-uid"
    assert await bench.listed() == []
    path = f"{records_of('team')}/{a_record().digest}"
    assert (await bench.get(path))[0] == 404


async def test_an_api_server_that_does_not_answer_refuses_nobody_for_good(bench):
    bench.api.broken = 500
    assert (await sending(bench, bench.grade))[0] == 503
    assert (await bench.get(records_of("team")))[0] == 503
    bench.api.broken = None
    assert (await bench.send(a_record()))[0] == 200


async def test_no_token_is_in_any_log_line(bench, caplog):
    caplog.set_level(logging.DEBUG)
    await bench.send(a_record())
    bench.api.broken = 500
    await bench.get(records_of("team"), bench.api.issue("secret-token", AUDIENCE, account=READER))
    await sending(bench, "another-secret")
    lines = "\n".join(record.getMessage() for record in caplog.records)
    for secret in (bench.grade, bench.reader, "secret-token", "another-secret"):
        assert secret not in lines
