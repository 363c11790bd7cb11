"""A real mutating webhook beside Proctor: what it adds to a trial's pod is named and refused."""

import base64
import json
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from cluster.kube import a_command_run

SIDECAR = {
    "name": "mesh-proxy",
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
        "runAsUser": 64000,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "command": ["sleep", "600"],
}


class Webhook(BaseHTTPRequestHandler):
    """Adds a sidecar to every pod, and a variable to its agent."""

    patch: list[dict] = []

    def do_POST(self):  # the name is http.server's
        length = int(self.headers["Content-Length"])
        request = json.loads(self.rfile.read(length))["request"]
        response = {
            "uid": request["uid"],
            "allowed": True,
            "patchType": "JSONPatch",
            "patch": base64.b64encode(json.dumps(self.patch).encode()).decode(),
        }
        body = json.dumps(
            {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}
        ).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Say nothing."""


@pytest.fixture
def webhook(kube, tmp_path, busybox_image):
    """A webhook on this machine's loopback, which the API server of the test cluster shares."""
    subprocess.run(
        [
            "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
            "-subj", "/CN=webhook", "-addext", "subjectAltName=IP:127.0.0.1",
            "-keyout", tmp_path / "key.pem", "-out", tmp_path / "cert.pem",
        ],
        check=True,
        capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    server = HTTPServer(("127.0.0.1", 0), Webhook)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    Webhook.patch = [
        {"op": "add", "path": "/spec/containers/-", "value": {**SIDECAR, "image": busybox_image}},
        {
            "op": "add",
            "path": "/spec/initContainers/1/env",
            "value": [{"name": "HTTP_PROXY", "value": "http://proxy:3128"}],
        },
    ]
    name = f"injector-{kube.namespace}"
    kube.apply(
        {
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": "MutatingWebhookConfiguration",
            "metadata": {"name": name},
            "webhooks": [
                {
                    "name": "injector.proctor.test",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "clientConfig": {
                        "url": f"https://127.0.0.1:{server.server_port}/",
                        "caBundle": base64.b64encode((tmp_path / "cert.pem").read_bytes()).decode(),
                    },
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": kube.namespace}
                    },
                    "rules": [
                        {
                            "apiGroups": [""],
                            "apiVersions": ["v1"],
                            "operations": ["CREATE"],
                            "resources": ["pods"],
                        }
                    ],
                }
            ],
        }
    )
    yield
    kube("delete", "mutatingwebhookconfiguration", name)
    server.shutdown()
    thread.join()
    server.server_close()


def test_what_a_webhook_adds_is_named_and_voids_the_trial(kube, webhook):
    kube.run("injected", a_command_run("touch x", {"type": "file_exists", "path": "x"}))
    kube.finished("injected")
    (trial,) = kube.trials("injected")
    assert trial["status"]["outcome"] == "InfraFailed"
    reason = trial["status"]["reason"]
    assert reason.startswith("PodChanged: ")
    assert "container/mesh-proxy" in reason
    assert "env/agent/HTTP_PROXY" in reason
    assert "trials.allowChanges" in reason


@pytest.mark.alone
def test_what_the_chart_allows_stands_in_the_trial(kube, webhook, install):
    install({"trials": {"allowChanges": ["container/mesh-*", "env/agent/*_PROXY"]}})
    try:
        kube.run("allowed", a_command_run("touch x", {"type": "file_exists", "path": "x"}))
        kube.finished("allowed")
        (trial,) = kube.trials("allowed")
        assert trial["status"]["outcome"] == "Passed", trial["status"]
        assert trial["status"]["podChanges"] == ["env/agent/HTTP_PROXY", "container/mesh-proxy"]
    finally:
        install()
