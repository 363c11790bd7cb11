"""The results server is killed, gone, or without its index: no verdict is lost, and it heals."""

import threading

import pytest

from cluster.killing import component_pod, kill_component
from cluster.kube import a_command_run
from cluster.provider import upgrade

pytestmark = pytest.mark.alone

DONE = {"type": "file_contains", "path": "answer.txt", "includes": ["forty-two"]}
COMMAND = "head -c 8000000 /dev/urandom > big.bin; echo forty-two > answer.txt"
SERVER = "statefulset/proctor-results"


def a_run(repeats, **more):
    spec = a_command_run(COMMAND, DONE)
    artifacts = {"paths": ["*"], "maxMiB": 20}
    sandbox = {**spec["sandbox"], "artifacts": artifacts}
    return {**spec, "repeats": repeats, "parallelism": 4, "sandbox": sandbox, **more}


def condition(run):
    return next(one for one in run["status"]["conditions"] if one["type"] == "ResultsStored")


@pytest.fixture(scope="module", autouse=True)
def restored(system):
    """The chart's own patience, for whatever is tested next."""
    yield
    upgrade({"results": {"uploadSeconds": 120}})


def test_a_server_that_is_killed_while_trials_send_takes_every_record(kube, system, busybox_image):
    kube.run("killed", a_run(8))
    pause = threading.Event()
    for number in range(3):
        pause.wait(6)
        kill_component(system, busybox_image, "results", number)
    run = kube.finished("killed", timeout=400)
    assert run["status"]["trials"]["passed"] == 8
    found = condition(run)
    assert (found["status"], found["message"]) == ("True", "8 records are stored")


def test_without_a_server_verdicts_stand_each_missing_record_is_named_and_it_heals(kube, system):
    upgrade({"results": {"uploadSeconds": 3}})
    system("scale", SERVER, "--replicas=0")
    system("wait", "pod", "--selector=app.kubernetes.io/component=results", "--for=delete",
           "--timeout=60s")  # fmt: skip
    kube.run("alone", a_run(2))
    run = kube.finished("alone", timeout=300)
    assert run["status"]["trials"]["passed"] == 2
    found = condition(run)
    assert (found["status"], found["reason"]) == ("False", "RecordsMissing")
    assert "task/default/0 (" in found["message"]
    assert "task/default/1 (" in found["message"]
    for trial in kube.trials("alone"):
        assert trial["status"]["outcome"] == "Passed"
        assert "recordPlace" not in trial["status"]
        assert trial["status"]["recordProblem"]

    system("scale", SERVER, "--replicas=1")
    system("rollout", "status", SERVER, "--timeout=120s")
    kube.run("healed", a_run(1))
    assert condition(kube.finished("healed"))["status"] == "True"


def test_an_index_that_is_deleted_while_the_server_runs_comes_back(kube, system):
    pod = component_pod(system, "results")["metadata"]["name"]
    remove = (
        "import glob, os; "
        "[os.remove(path) for path in glob.glob('/var/lib/proctor/results/index.sqlite*')]"
    )
    system("exec", pod, "--", "/venv/bin/python", "-c", remove)
    kube.run("reindexed", a_run(2))
    assert condition(kube.finished("reindexed"))["status"] == "True"
    log = system("logs", pod)
    assert "the index" in log
