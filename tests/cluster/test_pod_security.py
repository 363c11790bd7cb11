"""Every pod of ours passes PodSecurity restricted, as the API server judges it."""

import json

from cluster.charts import render
from cluster.kube import a_command_run

RESTRICTED = "pod-security.kubernetes.io/enforce=restricted"


def test_the_charts_own_pods_would_be_let_in(system):
    result = system.attempt(
        "label", "namespace", system.namespace, RESTRICTED, "--overwrite", "--dry-run=server"
    )
    assert result.returncode == 0, result.stderr
    violating = [line for line in result.stderr.splitlines() if "proctor-" in line.split(":")[0]]
    assert violating == []


def test_the_uninstall_hook_would_be_let_in(kube):
    (job,) = [one for one in render(release="other") if one["kind"] == "Job"]
    template = job["spec"]["template"]
    spec = {key: v for key, v in template["spec"].items() if key != "serviceAccountName"}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "hook"}, "spec": spec}
    kube("create", "--dry-run=server", "--filename=-", stdin=json.dumps(pod))


def test_trials_run_where_restricted_is_enforced(kube):
    label = kube.get("namespace", kube.namespace)["metadata"]["labels"]
    assert label["pod-security.kubernetes.io/enforce"] == "restricted"
    kube.run("restricted", a_command_run("id -u > user", {"type": "file_exists", "path": "user"}))
    kube.finished("restricted")
    (trial,) = kube.trials("restricted")
    assert trial["status"]["outcome"] == "Passed"
