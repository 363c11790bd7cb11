"""Keys of the gateway in the wrong hands: of pods that are no trial's, and of trials that ended."""

import json
import time
import urllib.error
import urllib.request

import pytest

from cluster.kube import a_command_run

AGENT, JUDGE = "proctor-gateway-agent", "proctor-gateway-judge"
BODY = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
SCRIPTED = {"mode": "Scripted", "script": {"inline": "rules: [{answer: {text: hi}}]"}}


DIE = "python3 -c 'import resource as r; r.prlimit(1, r.RLIMIT_NOFILE, (0, 0))'"
"""The runner cannot write evidence then; ``grade``, which closes accounts, never runs."""

AS_NODE = ("--as=somebody", "--as-group=system:masters", "--as-group=system:nodes")
"""Nobody else may ask for tokens of trials: as if one had been stolen from a node."""

AS_OPERATOR = (
    "--as=system:serviceaccount:proctor-system:proctor-operator",
    "--as-group=system:masters",
)
"""Nobody else may make a pod with the ServiceAccount of trials."""


@pytest.fixture(scope="module")
def gateway(system):
    """Asks the gateway with a key; (status, what it said)."""
    (service,) = system.list("services", "--selector=app.kubernetes.io/component=gateway")
    (port,) = (p["port"] for p in service["spec"]["ports"] if p["name"] == "http")
    base = f"http://{service['spec']['clusterIP']}:{port}"

    def ask(key, path="/v1/messages"):
        body = json.dumps(BODY).encode() if path == "/v1/messages" else None
        request = urllib.request.Request(base + path, body)
        request.add_header("authorization", f"Bearer {key}")
        request.add_header("content-type", "application/json")
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        return answer.status, answer.read().decode()

    return ask


def token_of(kube, pod, audience):
    """A key as the pod itself would get it: bound to it."""
    return kube(
        "create", "token", pod["spec"]["serviceAccountName"], f"--audience={audience}", *AS_NODE,
        "--bound-object-kind=Pod", f"--bound-object-name={pod['metadata']['name']}",
        f"--bound-object-uid={pod['metadata']['uid']}",
    ).strip()  # fmt: skip


def pod_of(kube, run):
    (pod,) = kube.list("pods", f"--selector=proctor.dev/run={run}")
    return pod


def test_keys_of_a_trial_are_good_while_it_runs_and_not_when_it_has_ended(kube, gateway):
    """Its pod is kept, and so is the token's object; only the trial says that it is over."""
    command = f"sleep 12; {DIE}"
    spec = {**a_command_run(command, {"type": "file_exists", "path": "never"}), "models": SCRIPTED}
    kube.run("stolen", spec)
    pod = kube.pod_running("stolen", "agent")
    agent, judge = token_of(kube, pod, AGENT), token_of(kube, pod, JUDGE)
    assert gateway(agent)[0] == 200
    assert gateway(agent, "/proctor/v1/ledger")[0] == 403

    kube.finished("stolen")
    (trial,) = kube.trials("stolen")
    assert trial["status"]["outcome"] == "AgentError", trial["status"]
    assert pod_of(kube, "stolen")["metadata"]["uid"] == pod["metadata"]["uid"]
    for key, path in ((agent, "/v1/messages"), (judge, "/v1/messages"),
                      (judge, "/proctor/v1/ledger")):  # fmt: skip
        status, said = wait_for_refusal(gateway, key, path)
        assert (status, "the trial has ended" in said) == (403, True), said


def wait_for_refusal(gateway, key, path):
    """The gateway remembers a trial for five seconds."""
    for _ in range(20):
        status, said = gateway(key, path)
        if status != 200:
            break
        time.sleep(0.5)
    return status, said


def test_a_pod_that_is_no_trials_gets_nothing(kube, gateway, images):
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "somebody-1"},
        "spec": {
            "serviceAccountName": "proctor-trial",
            "automountServiceAccountToken": False,
            "terminationGracePeriodSeconds": 0,
            "containers": [
                {
                    "name": "sleep",
                    "image": images["default"],
                    "imagePullPolicy": "IfNotPresent",
                    "command": ["sleep", "600"],
                    "securityContext": {
                        "allowPrivilegeEscalation": False,
                        "capabilities": {"drop": ["ALL"]},
                        "runAsNonRoot": True,
                        "seccompProfile": {"type": "RuntimeDefault"},
                    },
                }
            ],
        },
    }
    kube("apply", "--filename=-", *AS_OPERATOR, stdin=json.dumps(pod))
    created = kube.get("pod", "somebody-1")
    assert gateway(token_of(kube, created, AGENT))[0] == 403
    assert gateway(token_of(kube, created, "https://kubernetes.default.svc"))[0] == 401
    unbound = kube("create", "token", "proctor-trial", f"--audience={AGENT}", *AS_NODE).strip()
    assert gateway(unbound)[0] == 403
    kube("delete", "pod", "somebody-1")
