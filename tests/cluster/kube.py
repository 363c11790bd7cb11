"""kubectl, as a user runs it, for the cluster tests."""

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml


class KubectlError(Exception):
    """kubectl refused; the message is what it printed."""


@dataclass(frozen=True, slots=True)
class Kubectl:
    """kubectl in one namespace; ``KUBECONFIG`` says which cluster."""

    namespace: str

    def __call__(self, *arguments: str, stdin: str | None = None, timeout: float = 180) -> str:
        """Run it; KubectlError when it exits with another code than 0."""
        result = self.attempt(*arguments, stdin=stdin, timeout=timeout)
        if result.returncode != 0:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {result.stderr.strip()}")
        return result.stdout

    def attempt(
        self, *arguments: str, stdin: str | None = None, timeout: float = 180
    ) -> subprocess.CompletedProcess[str]:
        """Run it, whatever it says."""
        return subprocess.run(
            ["kubectl", "--namespace", self.namespace, *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def get(self, kind: str, name: str) -> dict[str, Any]:
        """One object."""
        body: dict[str, Any] = json.loads(self("get", kind, name, "--output=json"))
        return body

    def list(self, kind: str, *selectors: str) -> Sequence[dict[str, Any]]:
        """All objects of a kind that the selectors match, in the order of their names."""
        items: list[dict[str, Any]] = json.loads(self("get", kind, *selectors, "--output=json"))[
            "items"
        ]
        return items

    def apply(self, *documents: Mapping[str, Any]) -> None:
        """Apply documents that a test made."""
        self("apply", "--filename=-", stdin=yaml.safe_dump_all(documents))

    def run(self, name: str, spec: Mapping[str, Any]) -> None:
        """Apply an EvalRun."""
        self.apply(an_evalrun(name, spec))

    def finished(self, name: str, timeout: int = 240) -> dict[str, Any]:
        """Wait for Complete and return the EvalRun."""
        self(
            "wait", f"evalrun/{name}", "--for=condition=Complete", f"--timeout={timeout}s",
            timeout=timeout + 30,
        )  # fmt: skip
        return self.get("evalrun", name)

    def pod_running(self, run: str, container: str, timeout: float = 180) -> dict[str, Any]:
        """Wait until this container of the run's only pod runs, and return the pod."""
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            for pod in self.list("pods", f"--selector=proctor.dev/run={run}"):
                status = pod.get("status", {})
                states = [*status.get("initContainerStatuses", ())]
                states += status.get("containerStatuses", ())
                if any(s["name"] == container and "running" in s["state"] for s in states):
                    return pod
            time.sleep(0.5)
        raise TimeoutError(f"{container} of {run} did not run within {timeout:g} s")

    def trials(self, run: str) -> Sequence[dict[str, Any]]:
        """The EvalTrials of a run, in the order of task, variant and repeat."""
        trials = self.list("evaltrials", f"--selector=proctor.dev/run={run}")
        return sorted(
            trials,
            key=lambda t: (t["spec"]["task"], t["spec"]["variant"], t["spec"]["repeat"]),
        )


def an_evalrun(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """An EvalRun document."""
    return {
        "apiVersion": "proctor.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": name},
        "spec": dict(spec),
    }


def the_trial(kube: Kubectl, name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Status of the only trial of a run, once it has ended."""
    kube.run(name, spec)
    kube.finished(name)
    (trial,) = kube.trials(name)
    status: dict[str, Any] = trial["status"]
    return status


SMALL = {"resources": {"cpu": "400m", "memory": "1Gi"}}
"""Four pods at a time on a node with two cores."""


def a_command_run(command: str, *criteria: Mapping[str, Any], **task: Any) -> dict[str, Any]:
    """A spec with one task whose agent is a shell command; ``sandbox`` is laid over a small one."""
    return {
        "agent": {"type": "command", "options": {"command": command}},
        "tasks": [{"name": "task", "prompt": "do it", "criteria": list(criteria), **task}],
        "limits": {"taskTimeoutSeconds": 60, "gradeTimeoutSeconds": 60},
        "sandbox": SMALL,
    }
