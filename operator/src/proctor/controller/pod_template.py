"""What a run's ``sandbox.podTemplate`` adds to its pods (pure).

Names of volumes get a prefix, so that they never meet ours. Secrets that the agent is given as
files are mounted in ``grade`` too, which takes their values out of what it keeps.
"""

from collections.abc import Sequence
from typing import Any

from proctor.api.pod_template import PodTemplate, PodVolume, VolumeItem
from proctor.api.redaction import SECRET_FOLDERS
from proctor.planning.reserved import HIDDEN_SECRETS

_DEFAULT_SIZE = "1Gi"


def placement(template: PodTemplate) -> dict[str, Any]:
    """Fields of the pod's spec, as Kubernetes names them; only those that are given."""
    body = template.model_dump(
        by_alias=True,
        exclude_none=True,
        exclude_unset=True,
        include={
            "node_selector",
            "tolerations",
            "affinity",
            "topology_spread_constraints",
            "priority_class_name",
            "runtime_class_name",
            "scheduler_name",
        },
    )
    return {name: list(v) if isinstance(v, tuple) else v for name, v in body.items() if v}


def pull_secrets(template: PodTemplate, platform: Sequence[str]) -> list[dict[str, str]]:
    """The operator's pull secrets and the run's, each once."""
    names = dict.fromkeys([*platform, *(one.name for one in template.image_pull_secrets)])
    return [{"name": name} for name in names]


def template_volumes(template: PodTemplate) -> list[dict[str, Any]]:
    """The volumes, complete enough to be compared when the pod is read back."""
    return [{"name": _name(volume), **_source(volume)} for volume in template.volumes]


def agent_mounts(template: PodTemplate) -> list[dict[str, Any]]:
    """What ``agent`` sees of them."""
    return [_mount(volume, read_only=_is_read_only(volume)) for volume in template.volumes]


def checks_mounts(template: PodTemplate) -> list[dict[str, Any]]:
    """What ``checks`` sees of them: those that say so, and nothing of it can be changed."""
    return [
        _mount(volume, read_only=True)
        for volume in template.volumes
        if volume.mount_in == "AgentAndChecks"
    ]


def grade_mounts(template: PodTemplate) -> list[dict[str, Any]]:
    """The Secrets among them."""
    return [
        {"name": _name(volume), "mountPath": path, "readOnly": True}
        for volume, path in _hidden(template).items()
    ]


def agent_secret_folders(template: PodTemplate) -> list[dict[str, Any]]:
    """The variable that tells ``agent`` where Secrets are mounted; none without any."""
    return _folders([one.mount_path for one in template.volumes if one.secret is not None])


def grade_secret_folders(template: PodTemplate) -> list[dict[str, Any]]:
    """The variable that tells ``grade`` where Secrets are mounted; none without any."""
    return _folders(list(_hidden(template).values()))


def _hidden(template: PodTemplate) -> dict[PodVolume, str]:
    return {
        volume: f"{HIDDEN_SECRETS}/{volume.name}"
        for volume in template.volumes
        if volume.secret is not None
    }


def _folders(paths: list[str]) -> list[dict[str, Any]]:
    return [{"name": SECRET_FOLDERS, "value": ":".join(paths)}] if paths else []


def _name(volume: PodVolume) -> str:
    return f"template-{volume.name}"


def _source(volume: PodVolume) -> dict[str, Any]:
    if volume.config_map is not None:
        source = _files(volume.config_map.items, 0o444)
        return {"configMap": {"name": volume.config_map.name, **source}}
    if volume.secret is not None:
        source = _files(volume.secret.items, 0o440)
        return {"secret": {"secretName": volume.secret.secret_name, **source}}
    if volume.persistent_volume_claim is not None:
        claim = volume.persistent_volume_claim
        read_only = {"readOnly": True} if _is_read_only(volume) else {}
        return {"persistentVolumeClaim": {"claimName": claim.claim_name, **read_only}}
    size = volume.empty_dir.size_limit if volume.empty_dir else None
    return {"emptyDir": {"sizeLimit": size or _DEFAULT_SIZE}}


def _files(items: Sequence[VolumeItem], mode: int) -> dict[str, Any]:
    listed = [{"key": item.key, "path": item.path} for item in items]
    return {"defaultMode": mode, **({"items": listed} if listed else {})}


def _is_read_only(volume: PodVolume) -> bool:
    claim = volume.persistent_volume_claim
    return volume.empty_dir is None and (claim is None or claim.read_only is not False)


def _mount(volume: PodVolume, *, read_only: bool) -> dict[str, Any]:
    mount: dict[str, Any] = {
        "name": _name(volume),
        "mountPath": volume.mount_path,
    }
    if volume.sub_path:
        mount["subPath"] = volume.sub_path
    return {**mount, "readOnly": True} if read_only else mount
