"""kopf's side: events go into the mirror, and nothing else happens there."""

import ssl

import pytest

from builders_controller import KEY, run_body
from proctor.controller.handlers import Memo, log_in, run_changed
from proctor.controller.kube.connection import Connection
from proctor.controller.watched import Watched


def an_event(kind, version=1, **metadata):
    body = run_body()
    body["metadata"] |= {
        "uid": "u",
        "resourceVersion": str(version),
        "creationTimestamp": "2026-03-01T12:00:00Z",
        **metadata,
    }
    return {"type": kind, "object": body}


@pytest.fixture
def marked():
    return []


@pytest.fixture
def memo(marked):
    return Memo(Watched.empty(marked.append), Connection("https://api", static_token="t"))


@pytest.mark.parametrize("kind", [None, "ADDED", "MODIFIED"])
async def test_an_event_mirrors_the_run_and_marks_it(memo, marked, kind):
    await run_changed(event=an_event(kind), memo=memo)
    assert memo.watched.run(KEY).identity.uid == "u"
    assert marked == [KEY]


async def test_a_removed_run_is_forgotten(memo):
    await run_changed(event=an_event("ADDED"), memo=memo)
    await run_changed(event=an_event("DELETED", version=2), memo=memo)
    assert memo.watched.run(KEY) is None


async def test_a_body_that_cannot_be_read_breaks_nothing(memo, caplog):
    await run_changed(event={"type": "ADDED", "object": {"metadata": {}}}, memo=memo)
    assert "cannot be read" in caplog.text


async def test_kopf_logs_in_as_everything_else_does(memo):
    login = await log_in(memo=memo)
    assert (login.server, login.scheme, login.token) == ("https://api", "Bearer", "t")
    assert not login.as_ssl_context().verify_flags & ssl.VERIFY_X509_STRICT
