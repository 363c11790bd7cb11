"""The containers of a trial's pod, one function each (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from proctor.api.container import Resources
from proctor.api.egress import EgressMode
from proctor.api.quantity import doubled, larger
from proctor.api.redaction import SECRET_PREFIX
from proctor.controller.confinement import (
    FETCH_PASS_FOLDER,
    FETCH_PASS_VOLUME,
    PASS_FOLDER,
    PASS_VOLUME,
    pass_words,
    proof,
    proxy_words,
)
from proctor.controller.fetching import FETCHED_VOLUME, fetch_env, fetch_words
from proctor.controller.literals import literal
from proctor.controller.names import AGENT, CHECKS, FILL, GRADE, STAGE, TrialObject
from proctor.controller.pod_template import (
    agent_mounts,
    agent_secret_folders,
    checks_mounts,
    grade_mounts,
    grade_secret_folders,
)
from proctor.controller.security import task_security, trusted_security
from proctor.controller.settings import OperatorSettings
from proctor.planning.model import Cell
from proctor.planning.reserved import (
    EVIDENCE,
    FETCHED,
    FILL_FOLDER,
    FROZEN,
    HANDSHAKE,
    HOME,
    KEPT,
    ORDERS,
    PRIVATE,
    RUNNER,
    RUNNER_COMMAND,
    SCRATCH,
    TEMPORARY,
)
from proctor.planning.service_rules import LOOP_PORT

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
    """Lay the runner into the runtime volume, prove that the network is closed, and fetch."""
    own = _trusted(sandbox, STAGE)
    command = [*RUNNER_COMMAND, "stage", "--to", "/runtime", *proof(sandbox.settings.network)]
    mounts = [mount("runtime", "/runtime")]
    git = sandbox.cell.git
    if git is not None:
        command += fetch_words(git, sandbox.settings.network)
        mounts += [
            mount(FETCHED_VOLUME, FETCHED),
            mount(FETCH_PASS_VOLUME, FETCH_PASS_FOLDER, read_only=True),
        ]
        own |= fetch_env(git)
    return {**own, "command": command, "volumeMounts": mounts}


def fill(sandbox: Sandbox) -> dict[str, Any]:
    """Copy a folder of the task's image into the workspace, which covers it from then on."""
    command = [
        *RUNNER_COMMAND, "fill",
        "--from", literal(sandbox.cell.workspace),
        "--to", FILL_FOLDER,
    ]  # fmt: skip
    mounts = [mount("runtime", RUNNER, read_only=True), mount("workspace", FILL_FOLDER)]
    return {
        **_task(sandbox, FILL),
        "command": command,
        "volumeMounts": mounts,
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def agent(sandbox: Sandbox) -> dict[str, Any]:
    """Fill the workspace and let the agent take its turns."""
    passed = sandbox.mounts.passed
    command = [
        *RUNNER_COMMAND, "agent",
        "--orders", f"{ORDERS}/agent/orders.json",
        "--workspace", literal(sandbox.cell.workspace),
        "--home", HOME,
        "--evidence", f"{EVIDENCE}/agent",
    ]  # fmt: skip
    command += ["--filled"] if sandbox.cell.from_image else []
    command += ["--fetched", FETCHED] if sandbox.cell.fetches else []
    for name, path in passed.items():
        command += [] if name == "home" else ["--persist", literal(path)]
    mounts = [
        mount("runtime", RUNNER, read_only=True),
        mount("agent-orders", f"{ORDERS}/agent", read_only=True),
        mount("workspace", sandbox.cell.workspace),
        *(mount(name, path) for name, path in passed.items()),
        mount("agent-evidence", f"{EVIDENCE}/agent"),
        mount("agent-tmp", TEMPORARY),
        *_fetched(sandbox),
        *agent_mounts(sandbox.cell.pod),
    ]
    if sandbox.cell.checks_in_place:
        command += ["--loop-port", str(LOOP_PORT), "--handshake", HANDSHAKE, "--scratch", SCRATCH]
        mounts += [mount("handshake", HANDSHAKE), mount("checks-scratch", SCRATCH)]
    if sandbox.cell.agent_asks_models:
        command += _gateway(sandbox, "agent")
        mounts.append(mount("agent-token", f"{PRIVATE}/agent", read_only=True))
    _by_proxy(sandbox, command, mounts)
    disk = sandbox.cell.resources.ephemeral_storage
    # A repository lies there twice: as it was fetched, and as the workspace.
    fetched = doubled(disk) if disk and sandbox.cell.fetches else None
    own = _task(sandbox, AGENT, disk=fetched)
    own |= _env(sandbox, agent_secret_folders(sandbox.cell.pod))
    return {**own, "command": command, "volumeMounts": mounts}


def checks(sandbox: Sandbox) -> dict[str, Any]:
    """Run the commands of criteria on a copy of the frozen workspace."""
    passed = sandbox.mounts.passed
    command = [
        *RUNNER_COMMAND, "checks",
        "--orders", f"{ORDERS}/checks/orders.json",
        "--frozen-workspace", f"{FROZEN}/workspace",
        "--workspace", literal(sandbox.cell.workspace),
        "--home", HOME,
        "--evidence", f"{EVIDENCE}/checks",
        "--scratch", SCRATCH,
    ]  # fmt: skip
    for name, path in passed.items():
        command += ["--frozen", literal(f"{FROZEN}/{name}={path}")]
    mounts = [
        mount("runtime", RUNNER, read_only=True),
        mount("checks-orders", f"{ORDERS}/checks", read_only=True),
        mount("workspace", f"{FROZEN}/workspace", read_only=True),
        *(mount(name, f"{FROZEN}/{name}", read_only=True) for name in passed),
        mount("checks-workspace", sandbox.cell.workspace),
        *(mount(f"checks-{name}", path) for name, path in passed.items()),
        mount("checks-evidence", f"{EVIDENCE}/checks"),
        mount("checks-scratch", SCRATCH),
        mount("checks-tmp", TEMPORARY),
        *checks_mounts(sandbox.cell.pod),
    ]
    _by_proxy(sandbox, command, mounts)
    disk = sandbox.cell.resources.ephemeral_storage
    own = _task(sandbox, CHECKS, disk=doubled(disk) if disk else None)
    return {**own, "command": command, "volumeMounts": mounts}


def grade(sandbox: Sandbox, owner: TrialObject, attempt: int) -> dict[str, Any]:
    """Judge the evidence and write the verdict; runs nothing that the agent made."""
    trial = owner.trial
    command = [
        *RUNNER_COMMAND, "grade",
        "--orders", f"{ORDERS}/grade/orders.json",
        "--workspace", f"{FROZEN}/workspace",
        "--agent-evidence", f"{EVIDENCE}/agent",
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
        mount("grade-orders", f"{ORDERS}/grade", read_only=True),
        mount("workspace", f"{FROZEN}/workspace", read_only=True),
        mount("agent-evidence", f"{EVIDENCE}/agent", read_only=True),
        mount("record", RECORD),
        mount("grade-tmp", TEMPORARY),
        *_fetched(sandbox),
        *grade_mounts(sandbox.cell.pod),
    ]
    command += ["--fetched", FETCHED] if sandbox.cell.fetches else []
    if sandbox.cell.checks_in_place:
        command += ["--checks-evidence", f"{EVIDENCE}/agent", "--kept", KEPT]
        mounts.append(mount("loop-kept", KEPT, read_only=True))
    elif sandbox.cell.orders.checks is not None:
        command += ["--checks-evidence", f"{EVIDENCE}/checks"]
        mounts.append(mount("checks-evidence", f"{EVIDENCE}/checks", read_only=True))
    show_pass(sandbox, command, mounts)
    if sandbox.cell.needs_model:
        command += _gateway(sandbox, "judge")
        mounts.append(mount("judge-token", f"{PRIVATE}/judge", read_only=True))
    results = sandbox.settings.results
    if results is not None:
        command += [
            "--results", results.upload_url,
            "--results-token-file", f"{PRIVATE}/results/token",
            "--upload-seconds", str(results.upload_seconds),
        ]  # fmt: skip
        mounts.append(mount("results-token", f"{PRIVATE}/results", read_only=True))
    own = {**_trusted(sandbox, GRADE), **_env(sandbox, grade_secret_folders(sandbox.cell.pod))}
    return {**own, "command": command, "volumeMounts": mounts}


def show_pass(sandbox: Sandbox, command: list[str], mounts: list[dict[str, Any]]) -> None:
    """Let a container that uses no proxy know the pass, to take it out of what it says."""
    if sandbox.cell.egress.mode is EgressMode.ALLOW_LIST:
        command += pass_words()
        mounts.append(_pass_mount())


def _fetched(sandbox: Sandbox) -> list[dict[str, Any]]:
    """The repository as ``stage`` left it, which nobody after it can change."""
    return [mount(FETCHED_VOLUME, FETCHED, read_only=True)] if sandbox.cell.fetches else []


def _by_proxy(sandbox: Sandbox, command: list[str], mounts: list[dict[str, Any]]) -> None:
    """Add the egress proxy where the task's own code runs: ``preRun`` does in both."""
    if sandbox.cell.egress.mode is EgressMode.ALLOW_LIST:
        command += proxy_words(sandbox.settings.network)
        mounts.append(_pass_mount())


def _pass_mount() -> dict[str, Any]:
    return mount(PASS_VOLUME, PASS_FOLDER, read_only=True)


def _gateway(sandbox: Sandbox, role: str) -> list[str]:
    return [
        "--gateway", sandbox.settings.gateway_url,
        "--key-file", f"{PRIVATE}/{role}/token",
    ]  # fmt: skip


def _env(sandbox: Sandbox, more: list[dict[str, Any]]) -> dict[str, Any]:
    """Values that ``agent`` hands to the agent, and ``grade`` takes out of what it keeps.

    Under names of ours: the runner's own process must not be steered by a user's names.
    """
    env = more + [
        {
            "name": f"{SECRET_PREFIX}{name}",
            "valueFrom": {"secretKeyRef": {"name": ref.name, "key": ref.key}},
        }
        for name, ref in sorted(sandbox.cell.secret_env.items())
    ]
    return {"env": env} if env else {}


def _trusted(sandbox: Sandbox, name: str) -> dict[str, Any]:
    """A container of the runner's image: it runs no code of the task or the agent.

    Containers run one after the other, so the agent's CPU costs the pod nothing here.
    """
    own = sandbox.settings.trial.grade_resources
    cpu = larger(own.cpu, sandbox.cell.resources.cpu)
    resources = own.model_copy(update={"cpu": cpu})
    security = trusted_security(sandbox.cell, sandbox.settings.trial)
    return container(sandbox, name, sandbox.runner_image, resources, security)


def _task(sandbox: Sandbox, name: str, disk: str | None = None) -> dict[str, Any]:
    """A container of the task's image."""
    resources = sandbox.cell.resources
    if disk is not None:
        resources = resources.model_copy(update={"ephemeral_storage": disk})
    return container(sandbox, name, sandbox.task_image, resources, task_security(sandbox.cell))


def container(
    sandbox: Sandbox, name: str, image: str, resources: Resources, security: Mapping[str, Any]
) -> dict[str, Any]:
    """What every container says, ours and others'."""
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
        "securityContext": dict(security),
    }


def mount(volume: str, path: str, *, read_only: bool = False) -> dict[str, Any]:
    """A volume at a path."""
    body: dict[str, Any] = {"name": volume, "mountPath": path}
    return {**body, "readOnly": True} if read_only else body
