"""The chart, installed by Helm on the test cluster, and a namespace for each file of tests."""

import fcntl
import json
import os
import subprocess
import sys
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest

from cluster.harness.foreign import OURS_VARIABLE
from cluster.harness.paths import State
from cluster.kube import Kubectl

REPOSITORY = Path(__file__).parents[2]
RELEASE = "proctor"
SYSTEM = "proctor-system"
SANDBOX = frozenset(
    f"test_{name}"
    for name in (
        "admission", "agent_suites", "bundles", "canary", "checks_in_place", "egress",
        "egress_proxy", "events", "git_workspace", "memory", "not_enforced", "pod_security",
        "pod_template", "policies", "results_faults", "results_stores", "results_volume",
        "secret_env", "services", "stolen_keys", "users", "workspaces",
    )
)  # fmt: skip
"""What `make test-sandbox` runs: together they take longer than all others."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in SANDBOX:
            item.add_marker(pytest.mark.sandbox)


def tool(name, *arguments, timeout=3000):
    result = subprocess.run(
        [sys.executable, REPOSITORY / "tests" / "cluster" / name, *arguments],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert result.returncode == 0, f"{name} {arguments}: {result.stderr[-2000:]}"
    return result.stdout


def enforces_policies():
    """Whether the cluster enforces NetworkPolicies; of one of your own, PROCTOR_TEST_ENFORCES."""
    said = os.environ.get("PROCTOR_TEST_ENFORCES")
    if said:
        return said == "yes"
    state = State.from_environ(os.environ)
    return not state.root.exists() or (state.logs / "kube-router.log").exists()


def has_outside():
    """Whether tests may lay a network beside the cluster's: never beside one of your own."""
    return os.environ.get(OURS_VARIABLE) == "ours"


@pytest.fixture(scope="session")
def images():
    """Short name → reference of an image that the cluster has."""
    built = json.loads(tool("images"))
    tool("harness", "load-image", *(image["archive"] for image in built.values()))
    return {name: image["reference"] for name, image in built.items()}


@pytest.fixture(scope="session")
def busybox_image(images):
    return images["busybox"]


@pytest.fixture(scope="session")
def install(images):
    """Install or upgrade the release, and wait for it; returns kubectl in its namespace."""
    usual = {
        "images": {
            "operator": images["operator"],
            "gateway": images["gateway"],
            "results": images["results"],
            "runner": images["runner"],
            "task": images["default"],
        },
        "trials": {"allowImageUser": True},
        "network": {"requireEnforcement": enforces_policies()},
        "egressProxy": {"enabled": True},
        # No class of storage is there; test_results_volume.py brings one.
        "results": {"volume": {"persistent": False}},
    }
    command = ["helm", "upgrade", RELEASE, REPOSITORY / "charts" / "proctor", "--install",
               "--namespace", SYSTEM, "--create-namespace", "--wait", "--timeout=180s",
               "--values=-"]  # fmt: skip

    def install(values=None):
        result = subprocess.run(
            command,
            input=json.dumps({**usual, **(values or {})}),
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        kubectl = Kubectl(SYSTEM)
        pods = kubectl.attempt("describe", "pods").stdout if result.returncode else ""
        assert result.returncode == 0, f"helm: {result.stderr}\n{pods[-4000:]}"
        return kubectl

    return install


@pytest.fixture(scope="session")
def system(install, tmp_path_factory):
    """kubectl in the namespace of the chart, which the first worker of a test run installs."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    folder = tmp_path_factory.getbasetemp()
    shared = folder.parent if worker else folder
    with (shared / "install.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = shared / "installed"
        if not done.exists():
            install()
            done.touch()
    return Kubectl(SYSTEM)


@pytest.fixture(scope="session")
def operator_address(system):
    """host:port of the operator's metrics, by its Service."""
    service = system.list("services", "--selector=app.kubernetes.io/component=operator")[0]
    (port,) = [p["port"] for p in service["spec"]["ports"] if p["name"] == "metrics"]
    return f"{service['spec']['clusterIP']}:{port}"


@contextmanager
def a_namespace(level):
    """kubectl in a fresh namespace that enforces this level of PodSecurity."""
    name = f"test-{uuid.uuid4().hex[:8]}"
    kubectl = Kubectl(name)
    kubectl("create", "namespace", name)
    kubectl("label", "namespace", name, f"pod-security.kubernetes.io/enforce={level}")
    yield kubectl
    kubectl("delete", "namespace", name, "--timeout=120s")


@pytest.fixture(scope="module")
def kube(system):
    """kubectl in a fresh namespace that enforces PodSecurity restricted."""
    with a_namespace("restricted") as kubectl:
        yield kubectl


@pytest.fixture(scope="module")
def baseline(system):
    """kubectl in a fresh namespace that enforces PodSecurity baseline."""
    with a_namespace("baseline") as kubectl:
        yield kubectl
