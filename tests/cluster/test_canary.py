"""A provider's key and a hidden text that cannot be mistaken: where a full run leaves them.

The key may be in the gateway's Secret and in the gateway; the hidden text in the hidden parts of
the run, in the operator, which plans it, and in the containers that check and grade. A third text
is planted wherever something is searched, and has to be found there, or the search would prove
nothing.
"""

import base64
import hashlib
import json
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
import yaml

from cluster.canary_search import forms
from cluster.conftest import RELEASE, REPOSITORY, SYSTEM
from cluster.kube import SMALL

pytestmark = pytest.mark.alone

KEY = f"sk-canary-{uuid.uuid4().hex}{uuid.uuid4().hex}"
HIDDEN = f"hidden-canary-{uuid.uuid4().hex}{uuid.uuid4().hex}"
PLANTED = f"planted-{uuid.uuid4().hex}"
CANARIES = {"key": KEY, "hidden": HIDDEN, "planted": PLANTED}
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
print("PLANTED", flush=True)
time.sleep(60)
""".replace("PLANTED", PLANTED)
"""Stays for a minute, in which it is searched; check and, in patterns, grader stay longer."""

SPEC = {
    "suite": PLANTED,  # stands in metrics
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
                    "command": 'sleep 90; test -s "$REFERENCE_DIR/hidden.txt"',
                    "timeoutSeconds": 120,
                },
                *(
                    {"type": "file_matches_regex", "path": "answer.txt", "weight": 0, "pattern": p}
                    for p in ("^(a+)+$", "^(a|aa)+$", "^(a|a?)+$")
                ),
            ],
        }
    ],
    "limits": {"taskTimeoutSeconds": 120, "gradeTimeoutSeconds": 300},
    "sandbox": {**SMALL, "artifacts": {"paths": ["**"], "maxMiB": 1}},
}
RESTRICTED = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]},
              "runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}  # fmt: skip


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
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "provider"},
        "spec": {"selector": {"app": "provider"}, "ports": [{"port": 8080}]},
    }
    pod = a_pod("provider", images["default"], ["python3", "-c", PROVIDER], security=RESTRICTED)
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
def began(system, images):
    """When no image was unpacked any more, and nobody had any of the texts."""
    return time.time()


@pytest.fixture(scope="module")
def planter(kube, images, began):
    """A pod whose init container has ended, and left a text in its layer, a volume and its log."""
    script = f"echo {PLANTED} | tee /tmp/layer /volume/file"
    pod = a_pod("planter", images["default"], ["sleep", "3600"], security=RESTRICTED)
    (main,) = pod["spec"]["containers"]
    mount = {"volumeMounts": [{"name": "volume", "mountPath": "/volume"}]}
    pod["spec"]["initContainers"] = [
        {**main, **mount, "name": "left", "command": ["sh", "-c", script]}
    ]
    pod["spec"]["volumes"] = [{"name": "volume", "emptyDir": {}}]
    kube.apply(pod)
    kube("wait", "pod/planter", "--for=condition=Ready", "--timeout=120s")
    return kube.get("pod", "planter")["metadata"]["uid"]


@pytest.fixture(scope="module")
def planted_event(kube):
    """An Event of nothing in particular."""
    kube.apply(
        {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": "planted"},
            "involvedObject": {"kind": "Namespace", "name": kube.namespace,
                               "namespace": kube.namespace},
            "type": "Normal",
            "reason": "Planted",
            "message": PLANTED,
        }
    )  # fmt: skip


@pytest.fixture(scope="module")
def search(system, images, began):
    """Searches containers: (container of the product, where, canary); ``--ended``: what ended."""
    privileged = {"privileged": True, "runAsUser": 0}
    system.apply(
        a_pod("searcher", images["default"], ["sleep", "3600"], hostPID=True, security=privileged)
    )
    system("wait", "pod/searcher", "--for=condition=Ready", "--timeout=120s")
    own = system.get("pod", "searcher")["metadata"]["uid"]

    def look(*words):
        text = system("exec", "-i", "searcher", "--", "python3", "-c", SEARCH, *words, str(began),
                      stdin=json.dumps(CANARIES), timeout=400)  # fmt: skip
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
    """Component of the chart, or container of the trial; the sandbox of a pod is ``pause``.

    Of files that belong to no container: the pod. Those of no pod are the node's.
    """
    if pod is None:
        return "unknown" if container else "node"
    status = pod["status"]
    states = status.get("containerStatuses", []) + status.get("initContainerStatuses", [])
    names = [
        s["name"] for s in states if container and s.get("containerID", "").endswith(container)
    ]
    component = pod["metadata"].get("labels", {}).get("app.kubernetes.io/component")
    return component or (names or ["pause" if container else pod["metadata"]["name"]])[0]


@pytest.fixture(scope="module")
def finds(kube, provider, planter, planted_event, search):
    """What was found while each phase ran, of what had ended before, and when all was over."""
    kube.run("canary", SPEC)
    found = {}
    for phase in ("agent", "checks", "grade"):
        kube.pod_running("canary", phase)
        found[phase] = search()
        if phase == "checks":
            found["ended"] = search("--ended")
    kube.finished("canary")
    found["over"] = search()
    found["ended, over"] = search("--ended")
    return found


def of(finds, canary):
    return {(phase, container) for phase, rows in finds.items()
            for container, where, name in rows if name == canary}  # fmt: skip


def test_every_phase_was_searched_while_it_ran(finds):
    for phase in ("agent", "checks", "grade"):
        assert (phase, "searched", "") in finds[phase]
        assert {"gateway", "operator", "results", "egress"} <= {name for name, *_ in finds[phase]}


def test_what_ended_containers_left_was_searched(finds):
    """Of a pod that is Succeeded the kubelet removes the volumes; the layers stay."""
    for when in ("ended", "ended, over"):
        planted = {(name, where) for name, where, canary in finds[when] if canary == "planted"}
        of_planter = {where.split("/")[0] for name, where in planted if name == "planter"}
        assert of_planter == {"volumes", "logs"}
        assert [where for name, where in planted if name == "node"]
        assert all(where.endswith("/tmp/layer") for name, where in planted if name == "node")
    kept = [where for name, where, canary in finds["ended"] if canary == "planted"]
    assert any(where.endswith("/workspace/agent.py") for where in kept), kept


def test_the_key_is_in_the_gateway_and_nowhere_else(kube, finds):
    (trial,) = kube.trials("canary")
    assert trial["status"]["modelCalls"] == 1, trial["status"]
    assert trial["status"]["outcome"] == "Passed", trial["status"]
    assert {container for _, container in of(finds, "key")} - {"provider"} == {"gateway"}


def test_the_hidden_text_is_where_it_is_planned_and_checked_and_nowhere_else(finds):
    ran = {phase: rows for phase, rows in finds.items() if not phase.startswith("ended")}
    found = of(ran, "hidden")
    assert {container for _, container in found} <= {"operator", "checks", "grade"}
    assert ("checks", "checks") in found
    assert not {pair for pair in found if pair[0] == "agent" and pair[1] != "operator"}
    left = [where for name, where, canary in finds["ended"] if canary == "hidden"]
    volumes = {where.split("/")[4] if where.startswith("volumes/") else where for where in left}
    assert volumes <= {"checks-orders", "grade-orders", "checks-scratch"}
    assert "checks-orders" in volumes


def test_no_object_but_the_secret_and_the_hidden_parts_holds_them(kube, finds):
    holders = {name: set() for name in CANARIES}
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
    assert {("Event", "planted"), ("EvalRun", "canary")} <= holders["planted"]
    told = {one["involvedObject"]["name"] for one in kube.list("events")}
    assert "canary" in told
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
    for component, port_name in (("operator", "metrics"), ("gateway", "metrics"),
                                 ("results", "read")):  # fmt: skip
        (service,) = system.list("services", f"--selector=app.kubernetes.io/component={component}")
        (port,) = (p for p in service["spec"]["ports"] if p["name"] == port_name)
        name = f"{service['metadata']['name']}:{port['port']}"
        path = f"/api/v1/namespaces/{SYSTEM}/services/{name}/proxy/metrics"
        texts[f"metrics of {component}"] = system("get", "--raw", path)
        assert "proctor" in texts[f"metrics of {component}"]
    assert any("grade" in text for text in texts.values())
    held = {name: {place for place, text in texts.items() if text_of in text}
            for name, text_of in CANARIES.items()}  # fmt: skip
    assert held["planted"] >= {"metrics of operator", "log of planter"}
    assert (held["key"], held["hidden"]) == (set(), set())
    assert any(place.startswith("log of proctor-egress") for place in texts)


def test_the_results_server_keeps_neither(finds):
    """Its volume is searched with its container."""
    kept = {(where.rpartition("/")[0], canary) for name, where, canary in finds["over"]
            if name == "results" and where.startswith("/var/lib/proctor/results/")}  # fmt: skip
    assert {canary for _, canary in kept} == {"planted"}


def test_records_that_people_download_hold_neither(kube, finds, tmp_path):
    kube("create", "serviceaccount", "proctor-reader")
    kube("create", "rolebinding", "proctor-reader", "--clusterrole=view",
         f"--serviceaccount={kube.namespace}:proctor-reader")  # fmt: skip
    result = subprocess.run(
        [Path(sys.executable).with_name("proctor"), "records", "canary", "-o", tmp_path,
         "-n", kube.namespace],
        capture_output=True, text=True, timeout=120, env=os.environ, check=False,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    data = {str(path.relative_to(tmp_path)): path.read_bytes() for path in files}
    held = {name: {path for path, content in data.items()
                   if any(form in content for form in forms(canary))}
            for name, canary in CANARIES.items()}  # fmt: skip
    names = {Path(path).name for path in held["planted"]}
    assert {"transcript.jsonl", "agent.py"} <= names
    assert (held["key"], held["hidden"]) == (set(), set())
