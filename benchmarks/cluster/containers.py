"""What each optional container adds to a trial, beside what the kubelet takes for any container.

    python tests/cluster/harness exec -- python benchmarks/cluster/containers.py [--trials N]

Needs a cluster (``KUBECONFIG``) with the chart installed. Trials run one after the other, in runs
that differ in one container; the peer is a Job whose pods differ by an init container that does
nothing. Prints seconds a trial and exits 1 when a container takes more than its bound, as a ratio
to the peer in the same run.
"""

import argparse
import os
import sys
import uuid
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from cluster.kube import Kubectl, a_command_run

MADE = {"type": "file_exists", "path": "made.txt"}
RUN = {"type": "run_command", "command": "true"}
PLAIN = "no optional container"
LISTENER = ["python3", "-m", "http.server", "8000"]
LISTENS = {"cpu": "100m", "memory": "128Mi", "ephemeralStorage": "100Mi"}
TIMES: Mapping[str, float] = {"checks": 2.5, "fill": 3.5, "loop": 5.0, "services": 4.5}
"""Bound of each container, in the peer's seconds.

``loop`` starts an interpreter beside the agent, and the checks' commands run through it; a service
is there once its port answers, which is asked every second.
"""
RESTRICTED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "runAsUser": 65532,
    "seccompProfile": {"type": "RuntimeDefault"},
}


def seconds(began: str, ended: str) -> float:
    return (datetime.fromisoformat(ended) - datetime.fromisoformat(began)).total_seconds()


def spec_of(which: str, image: str) -> dict[str, Any]:
    """A run whose pods have this container beside the usual ones; ``image`` is the task's."""
    criteria = (MADE, RUN) if which in ("checks", "loop") else (MADE,)
    task: dict[str, Any] = {}
    if which == "loop":
        task["sandbox"] = {"checks": "InPlace"}
    if which == "fill":
        task["sandbox"] = {"image": image}
        task["workspace"] = {"image": {"path": "/usr/share/base-files"}}
    if which == "services":
        listener = {"name": "listener", "image": image, "port": 8000, "command": LISTENER}
        task["sandbox"] = {"services": [{**listener, "resources": LISTENS}]}
    return a_command_run("touch made.txt", *criteria, **task)


def trial_seconds(kube: Kubectl, name: str, count: int, spec: Mapping[str, Any]) -> float:
    """Of one trial, the next one's start included."""
    kube.run(name, {**spec, "repeats": count, "parallelism": 1})
    status = kube.finished(name, timeout=60 + 30 * count)["status"]
    if status["trials"]["passed"] != count:
        raise SystemExit(f"{name}: not all trials passed: {status['trials']}")
    return seconds(status["startTime"], status["completionTime"]) / count


def pod_seconds(kube: Kubectl, image: str, name: str, count: int, before: int) -> float:
    """Of one pod of a Job, with so many init containers before its container."""
    container = {
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["true"],
        "securityContext": RESTRICTED,
    }
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "initContainers": [{"name": f"before-{n}", **container} for n in range(before)],
        "containers": [{"name": "main", **container}],
    }
    kube.apply(
        {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name},
            "spec": {"completions": count, "parallelism": 1, "template": {"spec": pod}},
        }
    )
    kube("wait", f"job/{name}", "--for=condition=Complete", f"--timeout={30 + 30 * count}s",
         timeout=60 + 30 * count)  # fmt: skip
    status = kube.get("job", name)["status"]
    return seconds(status["startTime"], status["completionTime"]) / count


def task_image(kube: Kubectl) -> str:
    """The image of a trial's agent, which every node that ran one has."""
    (pod, *_) = kube.list("pods", "--selector=proctor.dev/run")
    (image,) = (c["image"] for c in pod["spec"]["initContainers"] if c["name"] == "agent")
    return str(image)


def measured(kube: Kubectl, count: int) -> int:
    trials = {PLAIN: trial_seconds(kube, "none", count, spec_of(PLAIN, ""))}
    image = task_image(kube)
    for which in TIMES:
        trials[which] = trial_seconds(kube, which, count, spec_of(which, image))
    fewer, more = (pod_seconds(kube, image, f"peer-{n}", count, n) for n in (1, 2))
    peer = more - fewer
    print(f"{'seconds, mean of ' + str(count):<32}{'a trial':>9}{'added':>8}{'times':>7}")
    print(f"{'kubelet: an init container':<32}{more:>9.2f}{peer:>8.2f}{1:>7.2f}")
    over = []
    for name, each in trials.items():
        added = each - trials[PLAIN]
        times = added / max(peer, 0.1)
        print(f"{name:<32}{each:>9.2f}{added:>8.2f}{times:>7.2f}")
        over += [name] if times > TIMES.get(name, 0.0) else []
    for name in over:
        print(f"over its bound of {TIMES[name]} times: {name}", file=sys.stderr)
    return 1 if over else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=8, help="of each kind")
    count = parser.parse_args().trials
    if "KUBECONFIG" not in os.environ:
        print("not measured: needs a cluster; see the head of this file")
        return 0
    kube = Kubectl(f"bench-{uuid.uuid4().hex[:8]}")
    kube("create", "namespace", kube.namespace)
    try:
        return measured(kube, count)
    finally:
        kube("delete", "namespace", kube.namespace, "--timeout=120s")


if __name__ == "__main__":
    sys.exit(main())
