"""What decides what ran in a pod, as one digest, comparable with what we asked for (pure).

Defaults and admission add fields that do not matter (tolerations, paths of messages); the ones that
do are here. Quantities are left out: the API server writes them in its own way.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.controller.cluster import Body

_CONTAINER = (
    "name", "image", "command", "args", "env", "envFrom", "volumeMounts", "volumeDevices",
    "workingDir", "lifecycle", "restartPolicy",
    "livenessProbe", "readinessProbe", "startupProbe",
)  # fmt: skip
_CONTAINER_SECURITY = (
    "privileged", "runAsUser", "runAsGroup", "runAsNonRoot", "readOnlyRootFilesystem",
    "allowPrivilegeEscalation", "capabilities", "procMount", "seccompProfile", "appArmorProfile",
)  # fmt: skip
_POD = (
    "restartPolicy", "serviceAccountName", "hostNetwork", "hostPID", "hostIPC",
    "shareProcessNamespace", "activeDeadlineSeconds", "runtimeClassName",
    "hostAliases", "dnsConfig", "dnsPolicy", "hostUsers",
)  # fmt: skip
_GROUPS = ("initContainers", "containers", "ephemeralContainers")
_OWNER = "OWNER"
_DEFAULT_DNS = "ClusterFirst"


def shape_digest(body: Body) -> str:
    """Digest of a pod's body, as asked for or as the API server shows it."""
    text = json.dumps(shape(body), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def shape(body: Body) -> dict[str, Any]:
    """What decides what runs: containers by group, volumes, fields of the pod, its token.

    The UID of its owner is masked, so that it can be computed before the owner exists.
    """
    spec, owner = {**body["spec"]}, owner_uid(body)
    if spec.get("dnsPolicy") == _DEFAULT_DNS:
        del spec["dnsPolicy"]
    pod = _given(spec, _POD)
    if spec.get("hostUsers") is False:
        pod["hostUsers"] = False
    return {
        "containers": {
            group: [_container(one, owner) for one in spec.get(group) or ()] for group in _GROUPS
        },
        "volumes": [_volume(one) for one in spec.get("volumes") or ()],
        "pod": pod,
        "token": spec.get("automountServiceAccountToken"),
    }


def owner_uid(body: Body) -> str:
    """UID of the controlling owner; empty when there is none."""
    owners = body["metadata"].get("ownerReferences") or ()
    return next((str(owner["uid"]) for owner in owners if owner.get("controller")), "")


def _container(one: Mapping[str, Any], owner: str) -> dict[str, Any]:
    security = one.get("securityContext") or {}
    given = {**_given(one, _CONTAINER), "security": _given(security, _CONTAINER_SECURITY)}
    command = given.get("command")
    if command and owner:
        given["command"] = [_OWNER if word == owner else word for word in command]
    return given


def _volume(one: Mapping[str, Any]) -> dict[str, Any]:
    folder = one.get("emptyDir")
    return dict(one) if folder is None else {"name": one["name"], "medium": folder.get("medium")}


def _given(body: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    """Fields that say something: absent, false and empty are the same to Kubernetes."""
    return {key: body[key] for key in keys if body.get(key)}
