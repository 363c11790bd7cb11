"""Uninstalling leaves no pod Terminating, and what was measured survives it."""

import subprocess

import pytest

from cluster.conftest import RELEASE, SYSTEM
from cluster.kube import a_command_run

pytestmark = pytest.mark.alone


@pytest.fixture
def uninstalled(kube, install):
    """A namespace whose trial ran when the chart was uninstalled; installed again at the end."""
    spec = a_command_run("sleep 300", {"type": "file_exists", "path": "never"})
    kube.run("orphan", spec)
    kube("wait", "evalrun/orphan", "--for=jsonpath={.status.trials.running}=1", "--timeout=90s")
    result = subprocess.run(
        ["helm", "uninstall", RELEASE, "--namespace", SYSTEM, "--wait", "--timeout=240s"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    yield kube
    install()
    kube("delete", "evalrun", "orphan", "--ignore-not-found", "--timeout=60s")


def test_runs_stay_and_their_pods_can_be_deleted_without_an_operator(uninstalled):
    kube = uninstalled
    assert kube.get("evalrun", "orphan")["status"]["trials"]["running"] == 1
    assert kube.list("pods", "--selector=proctor.dev/run=orphan")
    kube("delete", "pods", "--selector=proctor.dev/run=orphan", "--timeout=60s")
    kube("delete", "evalrun", "orphan", "--timeout=60s")
    assert kube.list("evaltrials") == []
