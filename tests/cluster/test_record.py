"""A run recorded on the cluster, replayed from the same volume: equal verdicts, nobody asked."""

import pytest

from cluster.kube import SMALL
from cluster.provider import start_provider, upgrade

pytestmark = pytest.mark.alone

CLAIM = "proctor-test-cassettes"
FOLDER = f"/var/lib/{CLAIM}"
KEY = "a-key-without-a-known-shape-4711"
REPEATS = 2

PROVIDER = """
import json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

lock, count = threading.Lock(), {"calls": 0, "strangers": 0}

class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers["x-api-key"]
        with lock:
            count["calls"] += 1
            count["strangers"] += key != "KEY"
        prompt = asked["messages"][0]["content"]
        said = [{"type": "text", "text": f"Done for {key}."}]
        if len(asked["messages"]) == 1:
            write = {"path": "out.txt", "content": "right" if "right" in prompt else "other"}
            said = [{"type": "tool_use", "id": "toolu_1", "name": "write", "input": write}]
        self.answer({
            "id": "msg_1", "type": "message", "role": "assistant", "model": asked["model"],
            "content": said, "stop_reason": "end_turn" if said[0]["type"] == "text" else "tool_use",
            "usage": {"input_tokens": 1000, "output_tokens": 100},
        })

    def do_GET(self):
        with lock:
            self.answer(count)

    def answer(self, body):
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass

ThreadingHTTPServer(("", 8080), Handler).serve_forever()
""".replace("KEY", KEY)


def once(kubectl, name, image, script, volume):
    """What a pod says that runs a shell script, with a volume at /volume."""
    container = {
        "name": name,
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", script],
        "securityContext": {"runAsUser": 0},
        "volumeMounts": [{"name": "volume", "mountPath": "/volume"}],
    }
    kubectl.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name},
            "spec": {
                "restartPolicy": "Never",
                "containers": [container],
                "volumes": [{"name": "volume", **volume}],
            },
        }
    )
    kubectl("wait", f"pod/{name}", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s")
    said = kubectl("logs", name)
    kubectl("delete", "pod", name, "--grace-period=0", "--force")
    return said


def on_node(pod):
    """A PersistentVolume in a folder of the node that a pod runs on, and a claim on it."""
    node = {
        "key": "kubernetes.io/hostname",
        "operator": "In",
        "values": [pod["spec"]["nodeName"]],
    }
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM},
        "spec": {
            "storageClassName": "",
            "volumeName": CLAIM,
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "64Mi"}},
        },
    }
    volume = {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": CLAIM},
        "spec": {
            "storageClassName": "",
            "capacity": {"storage": "64Mi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "local": {"path": FOLDER},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [node]}]}},
        },
    }
    return volume, claim


@pytest.fixture(scope="module")
def volume(system, busybox_image):
    """The volume of cassettes, empty."""
    folder = {"hostPath": {"path": FOLDER, "type": "DirectoryOrCreate"}}
    empty = "rm -rf /volume/*"
    (pod,) = system.list("pods", "--selector=app.kubernetes.io/component=gateway")
    once(system, "empty-cassettes", busybox_image, empty, folder)
    system.apply(*on_node(pod))
    yield {"persistentVolumeClaim": {"claimName": CLAIM}}
    system("delete", "pvc", CLAIM, "--timeout=60s")
    system("delete", "pv", CLAIM, "--timeout=60s")
    once(system, "empty-cassettes", busybox_image, empty, folder)


@pytest.fixture(scope="module")
def provider(kube, system, images, volume):
    """What the provider was asked so far; the gateway knows it, its key and the volume."""
    url, answer = start_provider(kube, images["default"], PROVIDER)
    system.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "fake-provider"},
            "stringData": {"api-key": KEY},
        }
    )
    fake = {
        "name": "fake",
        "format": "anthropic-messages",
        "baseUrl": url,
        "models": ["m"],
        "secretRef": {"name": "fake-provider", "key": "api-key"},
    }
    price = {"model": "m", "inputUsdPerMtok": 1, "outputUsdPerMtok": 10, "source": "for this test"}
    upgrade(
        {"gateway": {"providers": [fake], "prices": [price], "cassettes": {"claimName": CLAIM}}}
    )
    yield answer
    upgrade({"gateway": {"providers": [], "prices": [], "cassettes": {"claimName": ""}}})
    system("delete", "secret", "fake-provider")


def a_run(mode):
    right = {"type": "file_contains", "path": "out.txt", "includes": ["right"]}
    half = {"type": "file_contains", "path": "out.txt", "includes": ["right", "r"]}
    return {
        "agent": {"type": "mini", "model": "m"},
        "models": {"mode": mode, "cassette": {"volume": {"path": "suite/two.yaml"}}},
        "tasks": [
            {"name": "right", "prompt": "Write what is right.", "criteria": [right]},
            {"name": "wrong", "prompt": "Write something.", "criteria": [half]},
        ],
        "repeats": REPEATS,
        "parallelism": 2,
        "limits": {"taskTimeoutSeconds": 60, "gradeTimeoutSeconds": 60},
        "sandbox": SMALL,
    }


@pytest.fixture(scope="module")
def recorded(kube, provider):
    """The run in the end, its trials, and what the provider was asked."""
    kube.run("recorded", a_run("Record"))
    run = kube.finished("recorded")
    return run["status"], kube.trials("recorded"), provider()


@pytest.fixture(scope="module")
def replayed(kube, recorded, provider):
    """The same of the run that replays it."""
    kube.run("replayed", a_run("Replay"))
    run = kube.finished("replayed")
    return run["status"], kube.trials("replayed"), provider()


@pytest.fixture(scope="module")
def cassette(kube, system, busybox_image, recorded, volume):
    path = f"/volume/{kube.namespace}/suite/two.yaml"
    return once(system, "read-cassette", busybox_image, f"cat {path}", volume)


def verdicts(trials):
    return {
        (trial["spec"]["task"], trial["spec"]["repeat"]): (
            trial["status"]["outcome"],
            trial["status"]["score"],
            trial["status"]["criteria"],
        )
        for trial in trials
    }


def test_a_recording_asks_the_provider_with_its_key_and_is_paid_for(recorded):
    status, trials, asked = recorded
    outcomes = {trial["spec"]["task"]: trial["status"]["outcome"] for trial in trials}
    assert outcomes == {"right": "Passed", "wrong": "Failed"}, trials
    calls = 2 * len(trials)
    assert asked == {"calls": calls, "strangers": 0}
    assert status["costUsd"] == f"{calls * 0.002:g}"


def test_a_replay_gives_equal_verdicts_and_asks_nobody(recorded, replayed):
    _, trials, asked = recorded
    status, again, asked_after = replayed
    assert verdicts(again) == verdicts(trials)
    assert len(again) == 2 * REPEATS
    assert asked_after == asked
    assert (status["costUsd"], status["scriptedCostUsd"]) == ("0", recorded[0]["costUsd"])


def test_the_cassette_has_every_call_and_no_key(cassette, recorded):
    assert cassette.count("\ncall: ") == recorded[2]["calls"]
    assert "Done for [secret]." in cassette
    assert KEY not in cassette
    assert "eyJ" not in cassette, "a token of the cluster"
