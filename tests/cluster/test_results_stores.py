"""Records in a bucket, their index in PostgreSQL: read back whole; either may be away."""

import subprocess
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from sqlalchemy import create_engine, text

from cluster.conftest import RELEASE, SYSTEM, has_outside
from cluster.harness.layout import NODE_ADDRESS
from cluster.killing import component_pod, kill_component
from cluster.kube import KubectlError
from cluster.provider import trials_sending_for, upgrade
from cluster.storing import (
    Reader,
    a_storing_run,
    refusals,
    require_all_stored,
    require_named,
    stored,
)
from fakes.s3 import BUCKET, S3, an_s3
from postgres import Postgres, a_postgres
from waiting import until

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not has_outside(), reason="database and bucket stand beside the node"),
]

DATABASE_ADDRESS = "198.18.0.20"
PASSWORD = "of-the-index"
STOPPED, SILENT, NO_BUCKET = "database-stopped", "database-silent", "bucket-away"
# Not in the table filter: a network that enforces policies accepts what pods send before that.
DROP = ("PREROUTING", "--table", "mangle", "--destination", DATABASE_ADDRESS, "--jump", "DROP")
EMPTIED = {
    "dropped": (
        "postgres", "DROP DATABASE records WITH (FORCE)", "CREATE DATABASE records OWNER proctor",
    ),
    "emptied": ("records", "DROP SCHEMA public CASCADE", "CREATE SCHEMA public"),
}  # fmt: skip


def command(*words):
    subprocess.run(words, check=True, capture_output=True, timeout=60)


@dataclass
class Stores:
    """What the results server keeps things in, beside the node."""

    database: Postgres
    bucket: S3

    def sql(self, database, *statements):
        """Run them, each for itself; the first column of the last one's first row."""
        url = self.database.url.replace("/postgres?", f"/{database}?")
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        try:
            with engine.connect() as connection:
                results = [connection.execute(text(one)) for one in statements]
                return results[-1].scalar() if results[-1].returns_rows else None
        finally:
            engine.dispose()

    def folders(self):
        return self.sql("records", "SELECT count(*) FROM folders WHERE stored_at IS NOT NULL")

    def leave(self, what):
        if what == STOPPED:
            self.database.stop()
        elif what == SILENT:
            command("iptables", "--wait", "--insert", *DROP)
        else:
            self.bucket.stop()

    def come_back(self, what):
        if what == STOPPED:
            self.database.start()
        elif what == SILENT:
            command("iptables", "--wait", "--delete", *DROP)
        else:
            self.bucket.start()

    @contextmanager
    def away(self, what):
        self.leave(what)
        try:
            yield
        finally:
            self.come_back(what)


@pytest.fixture(scope="module")
def stores():
    command("ip", "address", "add", f"{DATABASE_ADDRESS}/32", "dev", "lo")
    try:
        with a_postgres(DATABASE_ADDRESS) as database, an_s3(NODE_ADDRESS) as bucket:
            stores = Stores(database, bucket)
            stores.sql("postgres", f"ALTER ROLE proctor PASSWORD '{PASSWORD}'")
            stores.sql("postgres", "CREATE DATABASE records")
            yield stores
    finally:
        command("ip", "address", "del", f"{DATABASE_ADDRESS}/32", "dev", "lo")


@pytest.fixture(scope="module", autouse=True)
def installed(system, stores):
    """The chart with both, as docs/results.md says; its own volume again at the end."""
    url = f"postgresql://proctor:{PASSWORD}@{DATABASE_ADDRESS}:5432/records"
    keys = {"AWS_ACCESS_KEY_ID": "proctor", "AWS_SECRET_ACCESS_KEY": "test"}
    secrets = {"test-index": {"url": url}, "test-bucket": keys}
    system.apply(
        *(
            {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": name}, "stringData": data}
            for name, data in secrets.items()
        )
    )
    bucket = {
        "url": f"s3://{BUCKET}/proctor",
        "config": {"endpoint": stores.bucket.endpoint, "region": "us-east-1"},
        "secretRef": {"name": "test-bucket"},
    }
    upgrade({"results": {"bucket": bucket, "index": {"secretRef": {"name": "test-index"}}}})
    yield
    none = {"url": "", "config": {"endpoint": "", "region": ""}, "secretRef": {"name": ""}}
    back = {"bucket": none, "index": {"secretRef": {"name": ""}}}
    upgrade({"results": back})
    system("delete", "secret", *secrets)


@pytest.fixture(scope="module")
def proctor(kube):
    return Reader.of(kube)


@pytest.fixture(scope="module")
def first(kube, installed):
    """A run of four trials, whose records were stored while nothing was wrong."""
    kube.run("first", a_storing_run(4))
    return kube.finished("first", timeout=300)


def is_ready(system):
    path = f"/api/v1/namespaces/{SYSTEM}/pods/proctor-results-0:8081/proxy/readyz"
    try:
        return system("get", "--raw", path) == "ok\n"
    except KubectlError:
        return False


def wait_until_ready(system):
    until(lambda: is_ready(system), "the results server is ready")
    system("wait", "pod/proctor-results-0", "--for=condition=Ready", "--timeout=60s")


def helm_test():
    return subprocess.run(
        ["helm", "test", RELEASE, "--namespace", SYSTEM, "--timeout=180s"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_records_are_read_back_whole_from_the_bucket(
    kube, system, stores, first, proctor, tmp_path
):
    require_all_stored(first, 4)
    kube("delete", "pods", "--all", "--wait=true")
    proctor.require_whole("first", tmp_path)
    assert stores.folders() == 4
    pod = component_pod(system, "results")["metadata"]["name"]
    code = "import os; print(sorted(os.listdir('/var/lib/proctor/results')))"
    assert system("exec", pod, "--", "/venv/bin/python", "-c", code) == "['spool']\n"


@pytest.mark.parametrize("what", [STOPPED, SILENT, NO_BUCKET])
def test_what_goes_away_while_trials_send_and_comes_back_costs_no_record(
    kube, system, stores, first, proctor, tmp_path, what
):
    before, known = refusals(system), stores.folders()
    kube.run(what, a_storing_run(4, parallelism=2))
    until(lambda: stores.folders() > known, "the first record is stored")
    with stores.away(what):
        until(lambda: refusals(system) > before, f"a trial is refused: {what}", seconds=120)
    require_all_stored(kube.finished(what, timeout=300), 4)
    proctor.require_whole(what, tmp_path)


def test_a_server_that_is_killed_while_trials_send_takes_every_record(
    kube, system, busybox_image, first, proctor, tmp_path
):
    kube.run("killed", a_storing_run(6))
    kube.pod_running("killed", "grade")
    for number in range(2):
        kill_component(system, busybox_image, "results", number)
    require_all_stored(kube.finished("killed", timeout=400), 6)
    proctor.require_whole("killed", tmp_path)


@pytest.mark.parametrize("how", EMPTIED)
def test_an_index_that_is_lost_is_made_again_from_the_bucket(
    system, stores, first, proctor, tmp_path, how
):
    known = stores.folders()
    stores.sql(*EMPTIED[how])

    until(lambda: proctor.count("first") == 4, "the first run's records are listed again")
    wait_until_ready(system)
    proctor.require_whole("first", tmp_path)
    assert stores.folders() == known


@pytest.mark.parametrize(
    ("what", "words"), [(STOPPED, "the index"), (NO_BUCKET, "the object store")]
)
def test_what_stays_away_costs_no_verdict_is_named_and_heals(kube, system, stores, what, words):
    with trials_sending_for(8), stores.away(what):
        kube.run(f"{what}-long", a_storing_run(2))
        run = kube.finished(f"{what}-long", timeout=300)
        assert require_named(kube, run, words, "cannot be reached") == 2
    wait_until_ready(system)
    kube.run(f"{what}-healed", a_storing_run(1))
    assert stored(kube.finished(f"{what}-healed"))["status"] == "True"


def test_helm_test_names_a_server_that_is_not_ready(system, stores, first, proctor):
    with stores.away(STOPPED):
        until(lambda: not is_asked(system, proctor), "the server notes that its index is gone")
        assert helm_test().returncode != 0
        said = system("logs", "proctor-test")
        assert "proctor-gateway.proctor-system.svc:8081/readyz: ready" in said
        assert "proctor-results.proctor-system.svc:8081/readyz: cannot be reached" in said
    wait_until_ready(system)
    result = helm_test()
    assert result.returncode == 0, result.stderr


def is_asked(system, proctor):
    """Whether the Service still leads to the server, after a person asked it something."""
    proctor.count("first")
    (pod,) = system.list("pods", "--selector=app.kubernetes.io/component=results")
    (ready,) = [one for one in pod["status"]["conditions"] if one["type"] == "Ready"]
    return ready["status"] == "True"
