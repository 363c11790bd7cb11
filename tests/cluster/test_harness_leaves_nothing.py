"""The test cluster itself: it works, it heals, and it leaves nothing on the host.

Uses a cluster of its own beside the one that other tests use.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cluster.harness.archives import write_docker_archive
from cluster.harness.footprint import other_clusters, take_footprint
from cluster.harness.paths import cache_folder

pytestmark = pytest.mark.alone

TOOL = Path(__file__).parent / "harness"
IMAGE = "images.test/busybox:1"


@pytest.fixture
def state(tmp_path):
    """A state folder, and a check at the end that nothing at all is left of its cluster."""
    folder = tmp_path / "state"
    others = other_clusters()
    before = take_footprint(folder, others)
    yield folder
    run(folder, "down")
    assert take_footprint(folder, others).left_since(before) == {}
    assert not folder.exists()


def run(state, *command, check=True, stdin=None):
    environ = {
        **{key: value for key, value in os.environ.items() if key != "KUBECONFIG"},
        "PROCTOR_TEST_CLUSTER_CACHE": str(cache_folder(os.environ)),
        "PROCTOR_TEST_CLUSTER_STATE": str(state),
    }
    done = subprocess.run(
        [sys.executable, TOOL, *command],
        env=environ,
        check=False,
        capture_output=True,
        text=True,
        input=stdin,
    )
    assert done.returncode == 0 or not check, done.stderr
    return done.stdout


def a_pod(script):
    container = {"name": "main", "image": IMAGE, "command": ["sh", "-c", script]}
    return json.dumps(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "probe"},
            "spec": {"restartPolicy": "Never", "containers": [container]},
        }
    )


def load_busybox(state, tmp_path):
    tree = tmp_path / "tree"
    (tree / "bin").mkdir(parents=True)
    shutil.copy("/bin/busybox", tree / "bin" / "busybox")
    for name in ("sh", "nslookup", "nc", "sleep"):
        (tree / "bin" / name).symlink_to("busybox")
    archive = tmp_path / "busybox.tar"
    write_docker_archive(tree, IMAGE, archive)
    return run(state, "load-image", str(archive))


def supervisor(state):
    return json.loads((state / "supervisor.json").read_text())["pid"]


def test_a_pod_runs_and_finds_the_api_by_name(state, tmp_path):
    run(state, "up")
    assert load_busybox(state, tmp_path) == f"loaded: {IMAGE}\n"
    script = "nslookup kubernetes.default.svc.cluster.local && nc -w 5 10.96.0.1 443 </dev/null"
    run(state, "kubectl", "create", "-f", "-", stdin=a_pod(script))
    run(state, "kubectl", "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/probe")
    assert "Address: 10.96.0.1\n" in run(state, "kubectl", "logs", "probe")


def test_nothing_outside_the_cluster_can_be_reached(state, tmp_path):
    run(state, "up")
    load_busybox(state, tmp_path)
    script = "! nslookup proctor.example && ! nc -w 2 192.0.2.1 80 </dev/null"
    run(state, "kubectl", "create", "-f", "-", stdin=a_pod(script))
    run(state, "kubectl", "wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/probe")


def test_a_running_cluster_would_not_pass_for_nothing(state):
    others = other_clusters()
    before = take_footprint(state, others)
    run(state, "up")
    left = take_footprint(state, others).left_since(before)
    assert set(left) == {"processes", "namespaces", "cgroups"}


def test_up_leaves_a_healthy_cluster_alone(state):
    run(state, "up")
    before = supervisor(state)
    assert run(state, "up") == f"already up: {state}\n"
    assert supervisor(state) == before


def test_an_image_is_loaded_once(state, tmp_path):
    run(state, "up")
    load_busybox(state, tmp_path)
    archive = tmp_path / "busybox.tar"
    assert run(state, "load-image", str(archive)) == f"already loaded: {IMAGE}\n"


def test_up_replaces_a_cluster_whose_supervisor_was_killed_with_pods_running(state, tmp_path):
    run(state, "up")
    load_busybox(state, tmp_path)
    run(state, "kubectl", "create", "-f", "-", stdin=a_pod("sleep 3600"))
    run(state, "kubectl", "wait", "--for=condition=Ready", "pod/probe")
    os.kill(supervisor(state), signal.SIGKILL)
    assert run(state, "status", check=False).startswith("not running")
    assert "up after" in run(state, "up")
    assert run(state, "kubectl", "get", "pods") == ""


def test_status_names_a_component_that_ended_and_up_replaces_the_cluster(state):
    run(state, "up")
    run(
        state,
        "exec",
        "--",
        "sh",
        "-c",
        "kill -9 $(ss -lntpH 'sport = :10259' | grep -o '[0-9]*,fd' | cut -d, -f1)",
    )
    time.sleep(0.5)
    assert "kube-scheduler ended with -9" in run(state, "status", check=False)
    run(state, "up")
    assert run(state, "status") == f"ready: {state}\n"


def test_down_during_the_start_leaves_nothing(state):
    environ = {**os.environ, "PROCTOR_TEST_CLUSTER_STATE": str(state)}
    environ.pop("KUBECONFIG", None)
    starting = subprocess.Popen([sys.executable, TOOL, "up"], env=environ)
    while not (state / "supervisor.json").exists():
        assert starting.poll() is None
        time.sleep(0.02)
    time.sleep(1.5)
    starting.kill()
    starting.wait()
    assert run(state, "status", check=False).startswith("starting")
