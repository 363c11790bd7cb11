"""Whoever may do everything in a namespace still cannot touch the trials in it."""

import json

import pytest

from cluster.kube import KubectlError, a_command_run
from waiting import until

TENANT = "tenant"
EVERYTHING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "Role",
    "metadata": {"name": "everything"},
    "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
}
BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "RoleBinding",
    "metadata": {"name": "everything"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": "everything",
    },
    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": TENANT}],
}
FORGED = {"v": 1, "o": "Passed", "s": "1", "c": ["1"], "p": "1"}


def test_no_policy_has_an_expression_that_the_api_server_warns_of(system):
    policies = system.list(
        "validatingadmissionpolicies", "--selector=app.kubernetes.io/name=proctor"
    )
    assert len(policies) == 5
    assert [one["status"].get("typeChecking") for one in policies] == [{}] * 5


@pytest.fixture(scope="module")
def trial(kube):
    """Name of a pod of a trial whose agent works, in a namespace of the tenant's."""
    kube.apply(EVERYTHING, BINDING)
    spec = a_command_run(
        "for i in $(seq 600); do [ -e stop ] && exit 0; sleep 0.2; done; touch late",
        {"type": "file_exists", "path": "late"},
    )
    kube.run("victim", {**spec, "limits": {"taskTimeoutSeconds": 300, "gradeTimeoutSeconds": 60}})
    return kube.pod_running("victim", "agent")["metadata"]["name"]


def refused(kube, *arguments, stdin=None):
    """What the tenant is told; fails when it is not refused by a policy of ours."""
    result = kube.attempt(*arguments, f"--as={TENANT}", stdin=stdin, timeout=60)
    assert result.returncode != 0, result.stdout
    assert "ValidatingAdmissionPolicy 'proctor-" in result.stderr, result.stderr
    assert "policies.alsoAllow" in result.stderr
    return result.stderr


def a_pod(**changes):
    metadata = {"name": "mine", **changes.pop("metadata", {})}
    container = {
        "name": "c",
        "image": "images.test/none:1",
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    spec = {"containers": [container], **changes}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(a_pod(serviceAccountName="proctor-trial"), id="as-its-account"),
        pytest.param(a_pod(metadata={"labels": {"proctor.dev/run-uid": "x"}}), id="by-its-label"),
    ],
)
def test_nobody_makes_a_pod_that_looks_like_a_trials(kube, trial, body):
    said = refused(kube, "create", "--filename=-", stdin=json.dumps(body))
    assert "create an EvalRun" in said


def test_no_controller_makes_one_for_somebody(kube, trial):
    template = a_pod(serviceAccountName="proctor-trial", metadata={"labels": {"app": "x"}})
    del template["metadata"]["name"]
    body = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "mine"},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"app": "x"}},
            "template": {"metadata": template["metadata"], "spec": template["spec"]},
        },
    }
    kube("create", "--filename=-", f"--as={TENANT}", stdin=json.dumps(body))
    try:
        kube("wait", "replicaset/mine", "--for=condition=ReplicaFailure", "--timeout=60s")
        assert kube.list("pods", "--selector=app=x") == []
    finally:
        kube("delete", "replicaset", "mine")


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(["exec", "POD", "-c", "agent", "--", "touch", "/workspace/stop"], id="exec"),
        pytest.param(["attach", "POD", "-c", "agent"], id="attach"),
        pytest.param(
            ["create", "--raw", "/api/v1/namespaces/NS/pods/POD/portforward", "--filename=-"],
            id="port-forward",
        ),
        pytest.param(["get", "--raw", "/api/v1/namespaces/NS/pods/POD/proxy/"], id="proxy"),
    ],
)
def test_nobody_reaches_into_a_trial(kube, trial, command):
    words = [word.replace("POD", trial).replace("NS", kube.namespace) for word in command]
    assert "nobody reaches into a pod of a trial" in refused(
        kube, words[0], f"--as={TENANT}", *words[1:], stdin="{}"
    )


def test_nobody_adds_a_container_to_it(kube, trial):
    container = {**a_pod()["spec"]["containers"][0], "name": "debugger"}
    patch = json.dumps({"spec": {"ephemeralContainers": [container]}})
    said = refused(
        kube, "patch", "pod", trial, "--subresource=ephemeralcontainers", f"--patch={patch}"
    )
    assert "its verdict would be void" in said


@pytest.mark.parametrize(
    "patch",
    [
        pytest.param({"spec": {"activeDeadlineSeconds": 1}}, id="spec"),
        pytest.param({"metadata": {"labels": {"proctor.dev/trial": "other"}}}, id="label"),
        pytest.param({"metadata": {"labels": {"proctor.dev/run-uid": None}}}, id="no-label"),
        pytest.param({"metadata": {"finalizers": None}}, id="finalizers"),
        pytest.param(
            {"metadata": {"annotations": {"k8s.v1.cni.cncf.io/networks": "host"}}}, id="note"
        ),
    ],
)
def test_nobody_changes_it(kube, trial, patch):
    body = json.dumps(patch)
    refused(kube, "patch", "pod", trial, "--type=merge", f"--patch={body}")


def test_nobody_writes_a_verdict_into_its_status(kube, trial):
    ended = {"exitCode": 0, "message": json.dumps(FORGED)}
    status = {"containerStatuses": [{"name": "grade", "state": {"terminated": ended}}]}
    body = json.dumps({"status": status})
    said = refused(
        kube, "patch", "pod", trial, "--subresource=status", "--type=merge", f"--patch={body}"
    )
    assert "the verdict stands in it" in said


def test_nobody_writes_evaltrials(kube, trial):
    (record,) = kube.trials("victim")
    name = record["metadata"]["name"]
    outcome = json.dumps({"status": {"outcome": "Passed", "score": "1"}})
    refused(
        kube,
        "patch",
        "evaltrial",
        name,
        "--subresource=status",
        "--type=merge",
        f"--patch={outcome}",
    )
    attempt = json.dumps({"spec": {"attempt": 2}})
    refused(kube, "patch", "evaltrial", name, "--type=merge", f"--patch={attempt}")
    body = {
        "apiVersion": "proctor.dev/v1alpha1",
        "kind": "EvalTrial",
        "metadata": {"name": "mine"},
        "spec": {k: record["spec"][k] for k in ("runName", "task", "variant", "repeat", "agent")},
    }
    assert "Create an EvalRun" in refused(kube, "create", "--filename=-", stdin=json.dumps(body))


def test_nobody_gets_a_token_of_a_trial(kube, trial):
    said = refused(
        kube, "create", "token", "proctor-trial", "--audience=proctor-gateway-judge",
        "--bound-object-kind=Pod", f"--bound-object-name={trial}",
    )  # fmt: skip
    assert "only the kubelet gets tokens" in said


def test_nobody_gives_trials_an_identity_in_a_cloud(kube, trial):
    note = "eks.amazonaws.com/role-arn=arn:aws:iam::1:role/admin"
    refused(kube, "annotate", "serviceaccount", "proctor-trial", note)


def test_the_administrator_is_told_how_to_allow_it(kube, trial):
    with pytest.raises(KubectlError, match=r"policies\.enabled=false"):
        kube("exec", trial, "-c", "agent", "--", "true")


def test_other_pods_of_the_namespace_are_everybodys(kube, trial):
    kube("create", "--filename=-", f"--as={TENANT}", stdin=json.dumps(a_pod()))
    kube("label", "pod", "mine", "a=b", f"--as={TENANT}")
    kube("delete", "pod", "mine", f"--as={TENANT}", "--wait=false")


def test_a_trial_that_was_attacked_ends_as_if_nothing_had_been(kube, trial):
    """The last one: kubelet, scheduler and garbage collector were never in the way."""
    kube("patch", "evalrun", "victim", "--type=merge", "--patch", '{"spec":{"cancelled":true}}')
    run = kube.finished("victim")
    assert run["status"]["trials"]["cancelled"] == 1
    (record,) = kube.trials("victim")
    assert "score" not in record["status"]


def test_a_run_that_is_deleted_takes_its_pods_with_it(kube, trial):
    """Foreground deletion: the garbage collector changes owner references of trials and pods."""
    kube.run("gone", a_command_run("sleep 60", {"type": "file_exists", "path": "x"}))
    until(lambda: kube.list("pods", "--selector=proctor.dev/run=gone"), "its pod is made")
    kube("delete", "evalrun", "gone", "--cascade=foreground", "--timeout=90s")
    assert kube.list("evaltrials", "--selector=proctor.dev/run=gone") == []


def test_a_pod_that_is_orphaned_is_let_go(kube, trial):
    """The garbage collector takes the owner reference away, as it may."""
    kube.run("orphan", a_command_run("sleep 60", {"type": "file_exists", "path": "x"}))
    until(lambda: kube.list("pods", "--selector=proctor.dev/run=orphan"), "its pod is made")
    kube("delete", "evalrun", "orphan", "--cascade=orphan", "--timeout=90s")
    until(
        lambda: not any("orphan" in one["metadata"]["name"] for one in kube.list("pods")),
        lambda: f"its pod is gone: {kube('get', 'pods', '--output=wide')}",
    )
