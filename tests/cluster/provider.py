"""A model provider inside the cluster, for runs that really ask one, and the chart told of it."""

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from cluster.conftest import RELEASE, REPOSITORY, SYSTEM
from cluster.kube import Kubectl

RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def upgrade(values: Mapping[str, Any]) -> None:
    """Change values of the installed release, and wait for it."""
    command = ["helm", "upgrade", RELEASE, REPOSITORY / "charts" / "proctor", "--reuse-values",
               "--namespace", SYSTEM, "--wait", "--timeout=180s", "--values=-"]  # fmt: skip
    result = subprocess.run(
        command, input=json.dumps(values), capture_output=True, text=True, timeout=240, check=False
    )
    assert result.returncode == 0, result.stderr


@contextmanager
def trials_sending_for(seconds: int) -> Iterator[None]:
    """Trials that send their record for so long; the chart's own patience for what comes next."""
    upgrade({"results": {"uploadSeconds": seconds}})
    try:
        yield
    finally:
        upgrade({"results": {"uploadSeconds": 120}})


def start_provider(kube: Kubectl, image: str, script: str) -> tuple[str, Callable[[], Any]]:
    """Run a Python script that serves port 8080, in the test's namespace.

    Returns:
        Its base URL inside the cluster, and what reads the JSON that it answers to ``GET /``.
    """
    labels = {"app": "provider"}
    container = {
        "name": "provider",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", script],
        "securityContext": RESTRICTED,
        "readinessProbe": {"httpGet": {"path": "/", "port": 8080}},
    }
    kube.apply(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "provider", "labels": labels},
            "spec": {"containers": [container], "automountServiceAccountToken": False},
        },
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "provider"},
            "spec": {"selector": labels, "ports": [{"port": 8080}]},
        },
    )
    kube("wait", "pod/provider", "--for=condition=Ready", "--timeout=120s")
    path = f"/api/v1/namespaces/{kube.namespace}/services/provider:8080/proxy/"
    url = f"http://provider.{kube.namespace}.svc.cluster.local:8080"
    return url, lambda: json.loads(kube("get", "--raw", path))
