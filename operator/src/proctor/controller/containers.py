"""The containers of a trial's pod, one function each (pure)."""

from dataclasses import dataclass
from typing import Any

from proctor.api.task import Resources
from proctor.controller.names import AGENT, CHECKS, GRADE, STAGE, TrialObject
from proctor.controller.quantities import doubled, larger
from proctor.controller.settings import OperatorSettings
from proctor.planning.model import Cell

RUNNER = ["/proctor/bin/python3", "-m", "proctor.runner"]
"""In the runner's image, and in every other one once ``stage`` has laid it there."""

WORKSPACE = "/workspace"
HOME = "/home/agent"
FROZEN = "/frozen"
SCRATCH = "/scratch"
RECORD = "/record"
VERDICT = "/dev/termination-log"


@dataclass(frozen=True, slots=True)
class Mounts:
    """Folders besides the workspace that pass from agent to checks: volume name → path."""

    passed: dict[str, str]

    @classmethod
    def of(cls, cell: Cell) -> "Mounts":
        """HOME, and what the sandbox asks for."""
        persist = {f"persist-{index}": path for index, path in enumerate(cell.persist)}
        return cls({"home": HOME, **persist})


@dataclass(frozen=True, slots=True)
class Sandbox:
    """What the containers of one pod share."""

    cell: Cell
    settings: OperatorSettings
    mounts: Mounts
    runner_image: str
    task_image: str


def stage(sandbox: Sandbox) -> dict[str, Any]:
    """Lay the runner into the runtime volume."""
    return {
        **_trusted(sandbox, STAGE),
        "command": [*RUNNER, "stage", "--to", "/runtime"],
        "volumeMounts": [_mount("runtime", "/runtime")],
    }


def agent(sandbox: Sandbox) -> dict[str, Any]:
    """Fill the workspace and let the agent take its turns."""
    passed = sandbox.mounts.passed
    command = [
        *RUNNER, "agent",
        "--orders", "/proctor-orders/agent/orders.json",
        "--workspace", WORKSPACE,
        "--home", HOME,
        "--evidence", "/evidence/agent",
    ]  # fmt: skip
    for name, path in passed.items():
        command += [] if name == "home" else ["--persist", _literal(path)]
    mounts = [
        _mount("runtime", "/proctor", read_only=True),
        _mount("agent-orders", "/proctor-orders/agent", read_only=True),
        _mount("workspace", WORKSPACE),
        *(_mount(name, path) for name, path in passed.items()),
        _mount("agent-evidence", "/evidence/agent"),
        _mount("agent-tmp", "/tmp"),
    ]
    if sandbox.cell.needs_model:
        command += _gateway(sandbox, "agent")
        mounts.append(_mount("agent-token", "/var/run/proctor/agent", read_only=True))
    return {**_task(sandbox, AGENT), "command": command, "volumeMounts": mounts}


def checks(sandbox: Sandbox) -> dict[str, Any]:
    """Run the commands of criteria on a copy of the frozen workspace."""
    passed = sandbox.mounts.passed
    command = [
        *RUNNER, "checks",
        "--orders", "/proctor-orders/checks/orders.json",
        "--frozen-workspace", f"{FROZEN}/workspace",
        "--workspace", WORKSPACE,
        "--home", HOME,
        "--evidence", "/evidence/checks",
        "--scratch", SCRATCH,
    ]  # fmt: skip
    for name, path in passed.items():
        command += ["--frozen", _literal(f"{FROZEN}/{name}={path}")]
    mounts = [
        _mount("runtime", "/proctor", read_only=True),
        _mount("checks-orders", "/proctor-orders/checks", read_only=True),
        _mount("workspace", f"{FROZEN}/workspace", read_only=True),
        *(_mount(name, f"{FROZEN}/{name}", read_only=True) for name in passed),
        _mount("checks-workspace", WORKSPACE),
        *(_mount(f"checks-{name}", path) for name, path in passed.items()),
        _mount("checks-evidence", "/evidence/checks"),
        _mount("checks-scratch", SCRATCH),
        _mount("checks-tmp", "/tmp"),
    ]
    disk = sandbox.cell.resources.ephemeral_storage
    own = _task(sandbox, CHECKS, disk=doubled(disk) if disk else None)
    return {**own, "command": command, "volumeMounts": mounts}


def grade(sandbox: Sandbox, owner: TrialObject, attempt: int) -> dict[str, Any]:
    """Judge the evidence and write the verdict; runs nothing that the agent made."""
    trial = owner.trial
    command = [
        *RUNNER, "grade",
        "--orders", "/proctor-orders/grade/orders.json",
        "--workspace", f"{FROZEN}/workspace",
        "--agent-evidence", "/evidence/agent",
        "--verdict", VERDICT,
        "--record", RECORD,
        "--run", owner.run_name,
        "--task", trial.task,
        "--variant", trial.variant,
        "--repeat", str(trial.repeat),
        "--uid", owner.uid,
        "--attempt", str(attempt),
    ]  # fmt: skip
    mounts = [
        _mount("grade-orders", "/proctor-orders/grade", read_only=True),
        _mount("workspace", f"{FROZEN}/workspace", read_only=True),
        _mount("agent-evidence", "/evidence/agent", read_only=True),
        _mount("record", RECORD),
        _mount("grade-tmp", "/tmp"),
    ]
    if sandbox.cell.orders.checks is not None:
        command += ["--checks-evidence", "/evidence/checks"]
        mounts.append(_mount("checks-evidence", "/evidence/checks", read_only=True))
    if sandbox.cell.needs_model:
        command += _gateway(sandbox, "judge")
        mounts.append(_mount("judge-token", "/var/run/proctor/judge", read_only=True))
    results = sandbox.settings.results
    if results is not None:
        command += [
            "--results", results.upload_url,
            "--results-token-file", "/var/run/proctor/results/token",
            "--upload-seconds", str(results.upload_seconds),
        ]  # fmt: skip
        mounts.append(_mount("results-token", "/var/run/proctor/results", read_only=True))
    return {**_trusted(sandbox, GRADE), "command": command, "volumeMounts": mounts}


def _gateway(sandbox: Sandbox, role: str) -> list[str]:
    return [
        "--gateway", sandbox.settings.gateway_url,
        "--key-file", f"/var/run/proctor/{role}/token",
    ]  # fmt: skip


def _trusted(sandbox: Sandbox, name: str) -> dict[str, Any]:
    """A container of the runner's image: it runs no code of the task or the agent.

    Containers run one after the other, so the agent's CPU costs the pod nothing here.
    """
    own = sandbox.settings.trial.grade_resources
    cpu = larger(own.cpu, sandbox.cell.resources.cpu)
    resources = own.model_copy(update={"cpu": cpu})
    return _container(sandbox, name, sandbox.runner_image, resources, read_only_root=True)


def _task(sandbox: Sandbox, name: str, disk: str | None = None) -> dict[str, Any]:
    """A container of the task's image; its root is writable, as people expect of it."""
    resources = sandbox.cell.resources
    if disk is not None:
        resources = resources.model_copy(update={"ephemeral_storage": disk})
    return _container(sandbox, name, sandbox.task_image, resources, read_only_root=False)


def _container(
    sandbox: Sandbox, name: str, image: str, resources: Resources, *, read_only_root: bool
) -> dict[str, Any]:
    amounts = {
        "cpu": resources.cpu,
        "memory": resources.memory,
        "ephemeral-storage": resources.ephemeral_storage,
    }
    given = {key: amount for key, amount in amounts.items() if amount is not None}
    return {
        "name": name,
        "image": image,
        "imagePullPolicy": sandbox.settings.image_pull_policy,
        "terminationMessagePolicy": "File",
        "resources": {"requests": given, "limits": dict(given)},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": read_only_root,
        },
    }


def _mount(volume: str, path: str, *, read_only: bool = False) -> dict[str, Any]:
    mount: dict[str, Any] = {"name": volume, "mountPath": path}
    return {**mount, "readOnly": True} if read_only else mount


def _literal(text: str) -> str:
    """Kubernetes replaces ``$(NAME)`` in commands; ``$$`` stands for itself."""
    return text.replace("$", "$$")
