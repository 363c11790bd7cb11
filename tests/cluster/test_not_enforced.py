"""A network that ignores NetworkPolicies: no agent starts, and the run says so.

Uses a cluster of its own, without kube-router, beside the one that other tests use.
"""

import json
import os
import subprocess
import sys

import pytest
import yaml

from cluster.conftest import REPOSITORY, has_outside, tool
from cluster.harness.paths import cache_folder
from cluster.kube import SMALL, a_command_run, an_evalrun

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(not has_outside(), reason="starts a cluster where there is one's own"),
]

TOOL = REPOSITORY / "tests" / "cluster" / "harness"
CHART = REPOSITORY / "charts" / "proctor"


class Cluster:
    """A cluster of its own, through the harness's command line."""

    def __init__(self, state, images):
        self._environ = {
            **{key: value for key, value in os.environ.items() if key != "KUBECONFIG"},
            "PROCTOR_TEST_CLUSTER_CACHE": str(cache_folder(os.environ)),
            "PROCTOR_TEST_CLUSTER_STATE": str(state),
        }
        self._images = images

    def __call__(self, *command, stdin=None, timeout=400):
        done = subprocess.run(
            [sys.executable, TOOL, *command],
            env=self._environ,
            check=False,
            capture_output=True,
            text=True,
            input=stdin,
            timeout=timeout,
        )
        assert done.returncode == 0, f"{command}: {done.stderr[-3000:]}"
        return done.stdout

    def install(self, **values):
        self(
            *("helm", "upgrade", "proctor", str(CHART), "--install", "--create-namespace"),
            *("--namespace=proctor-system", "--wait", "--timeout=180s", "--values=-"),
            stdin=json.dumps({"images": self._images, "results": {"enabled": False}, **values}),
        )

    def finished(self, name, spec):
        """The EvalRun at its end, and the pods that it left."""
        self("kubectl", "apply", "--filename=-", stdin=yaml.safe_dump(an_evalrun(name, spec)))
        self("kubectl", "wait", f"evalrun/{name}", "--for=condition=Complete", "--timeout=240s")
        run = json.loads(self("kubectl", "get", "evalrun", name, "--output=json"))
        selector = f"--selector=proctor.dev/run={name}"
        return run, json.loads(self("kubectl", "get", "pods", selector, "--output=json"))["items"]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    built = json.loads(tool("images"))
    names = {"operator": "operator", "gateway": "gateway", "runner": "runner", "task": "default"}
    images = {value: built[name]["reference"] for value, name in names.items()}
    found = Cluster(tmp_path_factory.mktemp("open") / "state", images)
    found("up")
    try:
        found("load-image", *(built[name]["archive"] for name in names.values()), timeout=600)
        yield found
    finally:
        found("down")


def a_run():
    spec = a_command_run("touch ran", {"type": "file_exists", "path": "ran"})
    return {**spec, "sandbox": SMALL, "failurePolicy": {"infraRetries": 0}}


def condition(run):
    return next(one for one in run["status"]["conditions"] if one["type"] == "NetworkEnforced")


def test_no_agent_starts_and_the_run_says_why(cluster):
    cluster.install()
    run, (pod,) = cluster.finished("refused", a_run())
    found = condition(run)
    assert (found["status"], found["reason"]) == ("False", "NotEnforced")
    assert "network.requireEnforcement" in found["message"]
    assert run["status"]["trials"]["errored"] == 1
    assert run["status"].get("score") is None
    (stage, agent, *_) = pod["status"]["initContainerStatuses"]
    assert stage["state"]["terminated"]["exitCode"] == 4
    assert "waiting" in agent["state"]


def test_agents_start_where_the_chart_allows_it_and_the_run_says_so(cluster):
    cluster.install(network={"requireEnforcement": False})
    run, _ = cluster.finished("allowed", a_run())
    assert run["status"]["trials"]["passed"] == 1
    found = condition(run)
    assert (found["status"], found["reason"]) == ("False", "AgentsNotConfined")
