"""What a pod reaches: a script that runs in it, and how tests read what it says."""

from collections.abc import Iterable, Mapping
from typing import Any

Target = tuple[str, str, int]
"""How (tcp, dns, name), host, port."""

SCRIPT = """
import json, socket, sys, threading

QUERY = (b"\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0"
         + b"".join(bytes([len(part)]) + part.encode() for part in
                    "kubernetes.default.svc.cluster.local".split("."))
         + b"\\0\\0\\x01\\0\\x01")

def tcp(host, port):
    socket.create_connection((host, port), timeout=4).close()

def dns(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        asked.settimeout(4)
        asked.sendto(QUERY, (host, port))
        asked.recv(512)

def name(host, port):
    socket.getaddrinfo(host, port)

def look(key, how, host, port):
    try:
        globals()[how](host, port)
        found[key] = "open"
    except OSError:
        found[key] = "shut"

found = {}
threads = [threading.Thread(target=look, args=(key, *target))
           for key, target in json.loads(sys.argv[1]).items()]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("\\n".join(f"{key} {found[key]}" for key in sorted(found)))
"""


def report(targets: Mapping[str, Target], reached: Iterable[str]) -> str:
    """What the script says when exactly these are reached."""
    open_ = set(reached)
    assert open_ <= targets.keys()
    return "\n".join(f"{key} {'open' if key in open_ else 'shut'}" for key in sorted(targets))


RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": 64000,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def plain_pod(name: str, image: str, *command: str, **labels: str) -> dict[str, Any]:
    """A pod that is none of Proctor's."""
    container = {
        "name": "main",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "securityContext": RESTRICTED,
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "containers": [container],
        },
    }
