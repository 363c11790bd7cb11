"""A provider's key and a hidden text that cannot be mistaken: where a full run leaves them.

The key may be in the gateway's Secret and in the gateway; the hidden text in the hidden parts of
the run, in the operator, which plans it, and in the containers that check and grade. Each search
must find them there too, or it would prove nothing.
"""

import base64
import hashlib
import json
import subprocess
import time
import uuid
from pathlib import Path

import pytest
import yaml

from cluster.conftest import RELEASE, REPOSITORY, SYSTEM
from cluster.kube import SMALL

pytestmark = pytest.mark.alone

KEY = f"sk-canary-{uuid.uuid4().hex}{uuid.uuid4().hex}"
HIDDEN = f"hidden-canary-{uuid.uuid4().hex}{uuid.uuid4().hex}"
CANARIES = {"key": KEY, "hidden": HIDDEN}
BEGAN = time.time()
SEARCH = (Path(__file__).parent / "canary_search.py").read_text()

PROVIDER = """
import hashlib, json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = hashlib.sha256(self.headers["x-api-key"].encode()).hexdigest()
        self.answer(200 if key == "DIGEST" else 401, {
            "id": "m", "type": "message", "role": "assistant", "model": asked["model"],
            "content": [{"type": "text", "text": "x"}], "stop_reason": "end_turn",
            "usage": {"input_tokens": 1, "output_tokens": 1}})

    def do_GET(self):
        self.answer(200, {})

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("", 8080), Handler).serve_forever()
""".replace("DIGEST", hashlib.sha256(KEY.encode()).hexdigest())

AGENT = """
import json, os, time, urllib.request
body = json.dumps({"model": "canary", "max_tokens": 9,
                   "messages": [{"role": "user", "content": "hello"}]}).encode()
headers = {"x-api-key": os.environ["ANTHROPIC_API_KEY"], "content-type": "application/json"}
url = os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages"
answer = urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60).read()
with open("answer.txt", "w") as file:
    file.write("a" * 60 + "!")
print(answer.decode())
time.sleep(60)
"""
"""Stays for a minute, in which it is searched; so do the check and, in a pattern, the grader."""

SPEC = {
    "agent": {"type": "command", "model": "canary", "options": {"command": "python3 agent.py"}},
    "tasks": [
        {
            "name": "canary",
            "prompt": "Write answer.txt.",
            "workspace": {"files": [{"path": "agent.py", "content": AGENT}]},
            "reference": {"files": [{"path": "hidden.txt", "content": HIDDEN}]},
            "criteria": [
                {"type": "file_exists", "path": "answer.txt"},
                {
                    "type": "run_command",
                    "command": 'sleep 60; test -s "$REFERENCE_DIR/hidden.txt"',
                    "timeoutSeconds": 90,
                },
                *(
                    {"type": "file_matches_regex", "path": "answer.txt", "weight": 0, "pattern": p}
                    for p in ("^(a+)+$", "^(a|aa)+$")
                ),
            ],
        }
    ],
    "limits": {"taskTimeoutSeconds": 120, "gradeTimeoutSeconds": 200},
    "sandbox": SMALL,
}


def helm(values):
    command = ["helm", "upgrade", RELEASE, REPOSITORY / "charts" / "proctor", "--reuse-values",
               "--namespace", SYSTEM, "--wait", "--timeout=180s", "--values=-"]  # fmt: skip
    result = subprocess.run(
        command, input=json.dumps(values), capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stderr


def a_pod(name, image, command, **spec):
    container = {"name": name, "image": image, "imagePullPolicy": "IfNotPresent",
                 "command": command, "securityContext": spec.pop("security")}  # fmt: skip
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {"containers": [container], "automountServiceAccountToken": False,
                 "terminationGracePeriodSeconds": 0, **spec},
    }  # fmt: skip


@pytest.fixture(scope="module")
def provider(kube, system, images):
    """A provider that takes the canary and nothing else, and a gateway that has it."""
    restricted = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
                  "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}  # fmt: skip
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "provider"},
        "spec": {"selector": {"app": "provider"}, "ports": [{"port": 8080}]},
    }
    pod = a_pod("provider", images["default"], ["python3", "-c", PROVIDER], security=restricted)
    kube.apply(pod, service)
    kube("wait", "pod/provider", "--for=condition=Ready", "--timeout=120s")
    system.apply({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "canary"},
                  "data": {"key": base64.b64encode(KEY.encode()).decode()}})  # fmt: skip
    chart = yaml.safe_load((REPOSITORY / "charts" / "proctor" / "values.yaml").read_text())
    provider = {
        "name": "canary", "format": "anthropic-messages", "models": ["canary"],
        "baseUrl": f"http://provider.{kube.namespace}.svc.cluster.local:8080",
        "secretRef": {"name": "canary", "key": "key"},
    }  # fmt: skip
    price = {"model": "canary", "inputUsdPerMtok": 1, "outputUsdPerMtok": 1, "source": "a test"}
    helm({
        "gateway": {"providers": [provider], "prices": [price]},
        "trials": {**chart["trials"], "finishedPods": "Keep"},
    })  # fmt: skip
    yield
    helm({"gateway": {"providers": [], "prices": []}, "trials": chart["trials"]})
    system("delete", "secret", "canary")


@pytest.fixture(scope="module")
def search(system, images):
    """Searches all containers that run: (container of the product, where, canary)."""
    privileged = {"privileged": True, "runAsUser": 0}
    system.apply(
        a_pod("searcher", images["default"], ["sleep", "3600"], hostPID=True, security=privileged)
    )
    system("wait", "pod/searcher", "--for=condition=Ready", "--timeout=120s")
    own = system.get("pod", "searcher")["metadata"]["uid"]

    def look():
        text = system("exec", "-i", "searcher", "--", "python3", "-c", SEARCH, str(BEGAN),
                      stdin=json.dumps(CANARIES))  # fmt: skip
        pods = json.loads(system("get", "pods", "--all-namespaces", "--output=json"))["items"]
        names = {pod["metadata"]["uid"]: pod for pod in pods}
        return {
            (container_name(names.get(uid), container), where, canary)
            for uid, container, where, canary in json.loads(text)
            if uid != own
        }

    yield look
    system("delete", "pod", "searcher", "--force", "--grace-period=0")


def container_name(pod, container):
    """Component of the chart, or container of the trial; the sandbox of a pod is ``pause``."""
    if pod is None:
        return "unknown"
    status = pod["status"]
    states = status.get("containerStatuses", []) + status.get("initContainerStatuses", [])
    names = [s["name"] for s in states if s.get("containerID", "").endswith(container)]
    component = pod["metadata"].get("labels", {}).get("app.kubernetes.io/component")
    return component or (names[0] if names else "pause")


@pytest.fixture(scope="module")
def finds(kube, provider, search):
    """What was found while each phase ran, and when all was over."""
    kube.run("canary", SPEC)
    found = {}
    for phase in ("agent", "checks", "grade"):
        kube.pod_running("canary", phase)
        found[phase] = search()
    kube.finished("canary")
    found["over"] = search()
    return found


def of(finds, canary):
    return {(phase, container) for phase, rows in finds.items()
            for container, where, name in rows if name == canary}  # fmt: skip


def test_every_phase_was_searched_while_it_ran(finds):
    for phase in ("agent", "checks", "grade"):
        assert (phase, "searched", "") in finds[phase]
        assert {"gateway", "operator"} <= {container for container, *_ in finds[phase]}


def test_the_key_is_in_the_gateway_and_nowhere_else(kube, finds):
    (trial,) = kube.trials("canary")
    assert trial["status"]["modelCalls"] == 1, trial["status"]
    assert trial["status"]["outcome"] == "Passed", trial["status"]
    assert {container for _, container in of(finds, "key")} - {"provider"} == {"gateway"}


def test_the_hidden_text_is_where_it_is_planned_and_checked_and_nowhere_else(finds):
    found = of(finds, "hidden")
    assert {container for _, container in found} <= {"operator", "checks", "grade"}
    assert ("checks", "checks") in found
    assert not {pair for pair in found if pair[0] == "agent" and pair[1] != "operator"}


def test_no_object_but_the_secret_and_the_hidden_parts_holds_them(kube, finds):
    holders = {"key": set(), "hidden": set()}
    kinds = kube("api-resources", "--verbs=list", "--output=name").split()
    for kind in kinds:
        body = kube.attempt("get", kind, "--all-namespaces", "--output=json").stdout
        for item in json.loads(body or "{}").get("items", []):
            text = json.dumps(item)
            for name, canary in CANARIES.items():
                encoded = base64.b64encode(canary.encode()).decode()[:-4]
                if canary in text or encoded in text:
                    holders[name].add((item["kind"], item["metadata"]["name"]))
    assert holders["key"] == {("Secret", "canary")}
    assert ("EvalRun", "canary") in holders["hidden"]
    assert {kind for kind, _ in holders["hidden"]} == {"EvalRun", "ConfigMap"}
    assert {name for kind, name in holders["hidden"] if kind == "ConfigMap"}.isdisjoint(
        agents_config_maps(kube)
    )


def agents_config_maps(kube):
    """ConfigMaps that a container of the agent mounts."""
    names = set()
    for pod in kube.list("pods", "--selector=proctor.dev/run=canary"):
        (agent,) = (c for c in pod["spec"]["initContainers"] if c["name"] == "agent")
        mounted = {mount["name"] for mount in agent["volumeMounts"]}
        volumes = [v for v in pod["spec"]["volumes"] if v["name"] in mounted]
        names |= {v["configMap"]["name"] for v in volumes if "configMap" in v}
    assert names
    return names


def test_no_log_and_no_metric_holds_them(kube, system, finds):
    texts = {}
    for kubectl in (kube, system):
        for pod in kubectl.list("pods"):
            name = pod["metadata"]["name"]
            logs = kubectl.attempt("logs", name, "--all-containers", "--prefix").stdout
            texts[f"log of {name}"] = logs
    for component in ("operator", "gateway"):
        (service,) = system.list("services", f"--selector=app.kubernetes.io/component={component}")
        ports = {p["name"]: p for p in service["spec"]["ports"]}
        port = ports.get("metrics") or ports["http"]
        name = f"{service['metadata']['name']}:{port['port']}"
        path = f"/api/v1/namespaces/{SYSTEM}/services/{name}/proxy/metrics"
        texts[f"metrics of {component}"] = system("get", "--raw", path)
        assert "proctor" in texts[f"metrics of {component}"]
    assert any("grade" in text for text in texts.values())
    for name, canary in CANARIES.items():
        assert [place for place, text in texts.items() if canary in text] == [], name
