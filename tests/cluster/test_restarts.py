"""The operator may die at any moment: no trial is lost, none is run or counted twice."""

import random
import threading

import pytest

from cluster.kube import a_command_run

pytestmark = pytest.mark.alone

KILLS = 10


def test_the_operator_is_killed_ten_times_and_every_trial_counts_once(kube, system):
    spec = a_command_run(
        "sleep 1; echo done > out.txt",
        {"type": "file_contains", "path": "out.txt", "includes": ["done"]},
    )
    kube.run("killed", {**spec, "repeats": 12, "parallelism": 3})
    chance = random.Random(3)
    pause = threading.Event()
    for _ in range(KILLS):
        pause.wait(chance.uniform(0.5, 4.0))
        system("delete", "pod", "--selector=app.kubernetes.io/component=operator", "--force",
               "--grace-period=0", "--wait=false")  # fmt: skip
    run = kube.finished("killed", timeout=400)
    assert run["status"]["trials"] == {
        "total": 12,
        "pending": 0,
        "running": 0,
        "passed": 12,
        "failed": 0,
        "errored": 0,
        "cancelled": 0,
    }
    trials = kube.trials("killed")
    assert len({trial["spec"]["repeat"] for trial in trials}) == len(trials) == 12
    assert all(len(trial["status"]["attempts"]) == 1 for trial in trials)
    pods = kube.list("pods", "--selector=proctor.dev/run=killed")
    assert len({pod["metadata"]["labels"]["proctor.dev/trial"] for pod in pods}) == len(pods)
