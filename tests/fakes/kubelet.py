"""A kubelet that only pretends: it writes the status of pods, as a real one does."""

from typing import Any

from fakes.cluster import FakeCluster
from proctor.controller.cluster import PODS, Body


class FakeKubelet:
    """Moves pods of one namespace through their containers."""

    def __init__(self, cluster: FakeCluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace

    def schedule(self, name: str) -> None:
        self.status(name, {"phase": "Pending", "conditions": [_condition("PodScheduled", "True")]})

    def unschedulable(self, name: str, message: str) -> None:
        condition = {**_condition("PodScheduled", "False", "Unschedulable"), "message": message}
        self.status(name, {"phase": "Pending", "conditions": [condition]})

    def waiting(self, name: str, container: str, reason: str, message: str = "") -> None:
        states = [waiting(container, reason, message)]
        self.status(name, {"phase": "Pending", "initContainerStatuses": states})

    def run_agent(self, name: str) -> None:
        states = [ended("stage", 0), running("agent")]
        self.status(name, {"phase": "Pending", "initContainerStatuses": states})

    def grade(self, name: str, message: str, exit_code: int = 0) -> None:
        self.status(
            name,
            {
                "phase": "Succeeded" if exit_code == 0 else "Failed",
                "conditions": [_condition("PodReadyToStartContainers", "False")],
                "initContainerStatuses": [ended("stage", 0), ended("agent", 0)],
                "containerStatuses": [ended("grade", exit_code, message=message)],
            },
        )

    def end_agent(self, name: str, exit_code: int, reason: str = "Error") -> None:
        states = [ended("stage", 0), ended("agent", exit_code, reason)]
        self.status(name, {"phase": "Failed", "initContainerStatuses": states})

    def disrupt(self, name: str, reason: str = "EvictionByEvictionAPI") -> None:
        condition = _condition("DisruptionTarget", "True", reason)
        states = [ended("stage", 0), ended("agent", 137, "Error")]
        self.status(
            name,
            {"phase": "Failed", "conditions": [condition], "initContainerStatuses": states},
        )

    def status(self, name: str, status: Body) -> None:
        self._cluster.set_status(PODS, self._namespace, name, status)


def ended(name: str, code: int, reason: str = "", message: str = "") -> dict[str, Any]:
    state = {
        "exitCode": code,
        "reason": reason or ("Completed" if code == 0 else "Error"),
        "startedAt": "2026-03-01T12:00:05Z",
        "finishedAt": "2026-03-01T12:00:09Z",
    }
    if message:
        state["message"] = message
    return {"name": name, "state": {"terminated": state}}


def waiting(name: str, reason: str, message: str = "") -> dict[str, Any]:
    return {"name": name, "state": {"waiting": {"reason": reason, "message": message}}}


def running(name: str) -> dict[str, Any]:
    return {"name": name, "state": {"running": {"startedAt": "2026-03-01T12:00:05Z"}}}


def _condition(kind: str, status: str, reason: str = "") -> dict[str, Any]:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": reason,
        "lastTransitionTime": "2026-03-01T12:00:01Z",
    }
