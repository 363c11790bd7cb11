"""Security contexts of a trial's pod and its containers (pure; sandbox rule: users).

No rule rests on UIDs that differ between containers: what one must not see is not mounted in it.
"""

from typing import Any

from proctor.api.container import ROOTS_CAPABILITIES, SandboxUser
from proctor.controller.settings import TrialSettings
from proctor.planning.model import Cell

_GROUP = 64000
"""Of the volumes, where the platform chooses users and the image's is wanted nevertheless."""


def pod_security(cell: Cell, settings: TrialSettings) -> dict[str, Any]:
    """Of the pod: restricted, or, with user Image, whatever each container says."""
    seccomp = {"seccompProfile": {"type": "RuntimeDefault"}}
    user = settings.user_id
    if cell.user is SandboxUser.IMAGE:
        return {**seccomp, "fsGroup": _GROUP if user is None else user}
    if user is None:
        return {"runAsNonRoot": True, **seccomp}
    return {
        "runAsNonRoot": True,
        **seccomp,
        "runAsUser": user,
        "runAsGroup": user,
        "fsGroup": user,
    }


def trusted_security(cell: Cell, settings: TrialSettings) -> dict[str, Any]:
    """Of a container that runs our code alone: never the image's user."""
    context = {**_closed([]), "readOnlyRootFilesystem": True}
    if cell.user is not SandboxUser.IMAGE:
        return context
    user = settings.user_id
    ids = {} if user is None else {"runAsUser": user, "runAsGroup": user}
    return {**context, "runAsNonRoot": True, **ids}


def task_security(cell: Cell) -> dict[str, Any]:
    """Of a container of somebody's image; its root is writable, as people expect of it."""
    added = list(ROOTS_CAPABILITIES) if cell.user is SandboxUser.IMAGE else []
    return {**_closed(added), "readOnlyRootFilesystem": False}


def pod_fields(cell: Cell, settings: TrialSettings) -> dict[str, Any]:
    """Fields of the pod beside its security context."""
    if cell.user is SandboxUser.IMAGE and settings.user_namespaces:
        return {"hostUsers": False}
    return {}


def _closed(added: list[str]) -> dict[str, Any]:
    capabilities = {"drop": ["ALL"], "add": added} if added else {"drop": ["ALL"]}
    return {"allowPrivilegeEscalation": False, "capabilities": capabilities}
