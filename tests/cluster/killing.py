"""What only a node's root does: a command there, and SIGKILL to a process of the control plane.

Its pod and volumes stay, as after a crash.
"""

from collections.abc import Mapping
from typing import Any

from cluster.kube import Kubectl

_KILL = """
for process in /proc/[0-9]*; do
  if grep -qs -e UID_DASHES -e UID_UNDERSCORES $process/cgroup \\
     && tr '\\0' ' ' < $process/cmdline | grep -q MODULE; then
    kill -9 ${process#/proc/} && echo killed
  fi
done
echo done
"""


def component_pod(system: Kubectl, component: str) -> Mapping[str, Any]:
    """The one pod of a component."""
    (pod,) = system.list("pods", f"--selector=app.kubernetes.io/component={component}")
    return pod


def on_node(system: Kubectl, image: str, node: str, name: str, *command: str) -> str:
    """Run a command as a node's root, among its processes; what it prints."""
    container = {
        "name": "command",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": list(command),
        "securityContext": {"runAsUser": 0, "privileged": True},
    }
    spec = {
        "hostPID": True,
        "restartPolicy": "Never",
        "nodeName": node,
        "containers": [container],
    }
    system.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec})
    system("wait", f"pod/{name}", "--for=jsonpath={.status.phase}=Succeeded", "--timeout=60s")
    said = system("logs", name)
    system("delete", "pod", name, "--grace-period=0", "--force")
    return said


def kill_component(system: Kubectl, image: str, component: str, number: int) -> None:
    """Kill ``proctor.<component>`` by its pod's UID, and wait until it is back and ready."""
    pod = component_pod(system, component)
    (state,) = pod["status"]["containerStatuses"]
    uid = pod["metadata"]["uid"]
    script = _KILL.replace("UID_DASHES", uid).replace("UID_UNDERSCORES", uid.replace("-", "_"))
    command = ("sh", "-c", script.replace("MODULE", f"proctor.{component}"))
    said = on_node(system, image, pod["spec"]["nodeName"], f"kill-{component}-{number}", *command)
    assert "killed" in said, f"no process of {component} was found"
    selected = f"pod/{pod['metadata']['name']}"
    restarts = state["restartCount"] + 1
    system(
        "wait", selected, "--timeout=120s",
        f"--for=jsonpath={{.status.containerStatuses[0].restartCount}}={restarts}",
    )  # fmt: skip
    system("wait", selected, "--for=condition=Ready", "--timeout=120s")
