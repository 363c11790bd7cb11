"""The results server is killed, gone, or without its index: no verdict is lost, and it heals."""

import threading

import pytest

from cluster.killing import component_pod, kill_component
from cluster.provider import trials_sending_for
from cluster.storing import a_storing_run, require_all_stored, require_named, stored

pytestmark = pytest.mark.alone

SERVER = "statefulset/proctor-results"


def test_a_server_that_is_killed_while_trials_send_takes_every_record(kube, system, busybox_image):
    kube.run("killed", a_storing_run(8))
    pause = threading.Event()
    for number in range(3):
        pause.wait(6)
        kill_component(system, busybox_image, "results", number)
    require_all_stored(kube.finished("killed", timeout=400), 8)


def test_without_a_server_verdicts_stand_each_missing_record_is_named_and_it_heals(kube, system):
    with trials_sending_for(3):
        system("scale", SERVER, "--replicas=0")
        system("wait", "pod", "--selector=app.kubernetes.io/component=results", "--for=delete",
               "--timeout=60s")  # fmt: skip
        kube.run("alone", a_storing_run(2))
        assert require_named(kube, kube.finished("alone", timeout=300), "cannot be reached") == 2

    system("scale", SERVER, "--replicas=1")
    system("rollout", "status", SERVER, "--timeout=120s")
    kube.run("healed", a_storing_run(1))
    assert stored(kube.finished("healed"))["status"] == "True"


def test_an_index_that_is_deleted_while_the_server_runs_comes_back(kube, system):
    pod = component_pod(system, "results")["metadata"]["name"]
    remove = (
        "import glob, os; "
        "[os.remove(path) for path in glob.glob('/var/lib/proctor/results/index.sqlite*')]"
    )
    system("exec", pod, "--", "/venv/bin/python", "-c", remove)
    kube.run("reindexed", a_storing_run(2))
    require_all_stored(kube.finished("reindexed"), 2)
    log = system("logs", pod)
    assert "the index" in log
