"""Keys of the gateway in the wrong hands: of pods that are no trial's, and of trials that ended."""

import base64
import json
import os
import subprocess
import time
import urllib.error
import urllib.request
import uuid

import pytest

from agent_runs import LINES, run_on_cluster
from agent_suites import lines, of_cluster, wrongs
from cluster.conftest import has_outside
from cluster.harness.paths import State
from cluster.kube import Kubectl, a_command_run

AGENT, JUDGE, RESULTS = "proctor-gateway-agent", "proctor-gateway-judge", "proctor-results"
API_SERVER = "https://kubernetes.default.svc"
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
    assert gateway(token_of(kube, created, API_SERVER))[0] == 401
    unbound = kube("create", "token", "proctor-trial", f"--audience={AGENT}", *AS_NODE).strip()
    assert gateway(unbound)[0] == 403
    kube("delete", "pod", "somebody-1")


@pytest.fixture(scope="module")
def ended(kube):
    """The pod of a trial that has ended; it is kept, because the trial failed."""
    kube.run("ended", a_command_run("true", {"type": "file_exists", "path": "never"}))
    kube.finished("ended")
    return pod_of(kube, "ended")


@pytest.fixture(scope="module")
def running(kube):
    """The pod of a trial whose agent works until the tests are over."""
    spec = {**a_command_run("sleep 500", {"type": "file_exists", "path": "x"}), "models": SCRIPTED}
    spec["limits"] = {"taskTimeoutSeconds": 600, "gradeTimeoutSeconds": 60}
    kube.run("running", spec)
    yield kube.pod_running("running", "agent")
    kube("delete", "evalrun", "running", "--timeout=60s")


OLD = 120
"""Seconds since a token's end: the API server grants a minute, because clocks differ."""


def resigned(token, seconds):
    """The token as the API server would have made it, for an end in so many seconds.

    TokenRequest gives none that lives for less than ten minutes.
    """
    head, body, _ = token.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    moved = int(time.time()) + seconds - claims["exp"]
    claims |= {name: claims[name] + moved for name in ("exp", "iat", "nbf")}
    text = f"{head}.{_base64(json.dumps(claims).encode())}"
    key = State.from_environ(os.environ).var_lib / "cluster" / "pki" / "service-accounts.key"
    command = ["openssl", "dgst", "-sha256", "-sign", str(key)]
    signed = subprocess.run(command, input=text.encode(), capture_output=True, check=True)
    return f"{text}.{_base64(signed.stdout)}"


def _base64(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@pytest.fixture(scope="module")
def results(system):
    """Asks the results server for a port's path with a token; (status, what it said)."""
    service = system.get("service", "proctor-results")["spec"]
    ports = {port["name"]: port["port"] for port in service["ports"]}

    def ask(port, path, token, body=None):
        url = f"http://{service['clusterIP']}:{ports[port]}/proctor/v1/{path}"
        request = urllib.request.Request(url, body, method="PUT" if body else "GET")
        request.add_header("x-proctor-token", token)
        try:
            answer = urllib.request.urlopen(request, timeout=30)
        except urllib.error.HTTPError as error:
            answer = error
        return answer.status, answer.read().decode()

    return ask


UPLOAD = f"records/{'0' * 64}"


def test_the_token_of_grade_sends_while_its_trial_runs_and_reads_nothing(
    kube, results, ended, running
):
    token = token_of(kube, running, RESULTS)
    status, said = results("upload", UPLOAD, token, b"{}")
    assert (status, "digest" in said) == (422, True), said
    assert results("read", f"namespaces/{kube.namespace}/records", token)[0] == 403
    late = token_of(kube, ended, RESULTS)
    assert results("upload", UPLOAD, late, b"{}") == (403, '{"error": "the trial has ended"}')


@pytest.mark.skipif(not has_outside(), reason="the key that signs tokens is somebody else's")
def test_a_token_of_a_running_trial_is_refused_for_nothing_but_its_age(
    kube, gateway, results, running
):
    agent, judge = token_of(kube, running, AGENT), token_of(kube, running, JUDGE)
    sender = token_of(kube, running, RESULTS)
    assert gateway(resigned(agent, 300))[0] == 200
    assert gateway(resigned(agent, -OLD))[0] == 401
    assert gateway(resigned(judge, -OLD), "/proctor/v1/ledger")[0] == 401
    assert results("upload", UPLOAD, resigned(sender, 300), b"{}")[0] == 422
    assert results("upload", UPLOAD, resigned(sender, -OLD), b"{}")[0] == 401
    api = token_of(kube, running, API_SERVER)
    named = as_bearer(kube, resigned(api, 300))
    assert named.stdout.strip().endswith(":proctor-trial"), named.stderr
    assert "nauthorized" in as_bearer(kube, resigned(api, -OLD)).stderr


def as_bearer(kube, token):
    """Who the API server takes the holder of a token for, without anything of ours."""
    where = ("config", "view", "--minify", "--raw", "--output=json")
    cluster = json.loads(kube(*where))["clusters"][0]["cluster"]
    return subprocess.run(
        ["kubectl", "--kubeconfig=/dev/null", f"--server={cluster['server']}",
         "--insecure-skip-tls-verify", f"--token={token}", "auth", "whoami",
         "--output=jsonpath={.status.userInfo.username}"],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not has_outside(), reason="the key that signs tokens is somebody else's")
def test_agents_with_keys_of_others_open_nothing(kube, system, ended, running, record_property):
    audiences = {"agent": AGENT, "judge": JUDGE, "results": RESULTS, "api": API_SERVER}
    tokens = {}
    for name, audience in audiences.items():
        tokens[f"ended-{name}"] = token_of(kube, ended, audience)
        tokens[f"expired-{name}"] = resigned(token_of(kube, running, audience), -OLD)
    service = system.get("service", "proctor-results")["spec"]
    ports = {port["name"]: f"{service['clusterIP']}:{port['port']}" for port in service["ports"]}
    api = Kubectl("default").get("service", "kubernetes")["spec"]["clusterIP"]
    places = {**ports, "api": f"{api}:443", "namespace": kube.namespace}
    words = {"KEYS": json.dumps({**places, "tokens": tokens}), "PLACES": json.dumps(places)}
    agents = of_cluster("attacks", "keys")

    found = run_on_cluster(kube, "keys", agents, uuid.uuid4().hex, words)

    record_property(LINES, lines(agents, found))
    assert wrongs(agents, found) == {}
    for trial in kube.trials("keys"):
        assert trial["status"]["recordPlace"] == "ResultsServer", trial["status"]
