"""The container ``loop``, for checks in place (pure)."""

from typing import Any

from proctor.controller.containers import (
    Sandbox,
    container,
    mount,
    show_pass,
)
from proctor.controller.names import LOOP
from proctor.controller.security import trusted_security
from proctor.planning.reserved import FROZEN, HANDSHAKE, KEPT, ORDERS, RUNNER_COMMAND
from proctor.planning.service_rules import LOOP_PORT


def loop(sandbox: Sandbox) -> dict[str, Any]:
    """Keep the hidden orders for checks in place until nothing of the agent is left."""
    command = [
        *RUNNER_COMMAND, "loop",
        "--orders", f"{ORDERS}/checks/orders.json",
        "--workspace", f"{FROZEN}/workspace",
        "--kept", KEPT,
        "--handshake", HANDSHAKE,
        "--port", str(LOOP_PORT),
    ]  # fmt: skip
    mounts = [
        mount("checks-orders", f"{ORDERS}/checks", read_only=True),
        mount("workspace", f"{FROZEN}/workspace", read_only=True),
        mount("loop-kept", KEPT),
        mount("handshake", HANDSHAKE),
    ]
    show_pass(sandbox, command, mounts)
    own, disk = sandbox.settings.trial.grade_resources, sandbox.cell.resources.ephemeral_storage
    security = trusted_security(sandbox.cell, sandbox.settings.trial)
    resources = own.model_copy(update={"ephemeral_storage": disk})
    return {
        **container(sandbox, LOOP, sandbox.runner_image, resources, security),
        "restartPolicy": "Always",
        "command": command,
        "volumeMounts": mounts,
    }
