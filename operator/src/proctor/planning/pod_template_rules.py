"""What ``sandbox.podTemplate`` may not ask for, each with field and remedy (pure).

Its fields are a closed list; here are the values of them that would give an author of EvalRuns more
than that: an identity in a cloud, another network, Proctor's own labels, the system's priority.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from proctor.api.errors import Problem
from proctor.api.pod_template import PodTemplate, PodVolume
from proctor.planning.reserved import RESERVED, SYSTEM, overlap

OURS = ("proctor.dev/", "app.kubernetes.io/managed-by")
IDENTITIES = ("azure.workload.identity/", "eks.amazonaws.com/", "iam.gke.io/")
_REFUSED = {
    OURS: "is Proctor's own",
    IDENTITIES: "would give agents an identity in a cloud",
    (
        "k8s.v1.cni.cncf.io/",
        "v1.multus-cni.io/",
        "cni.projectcalico.org/",
        "k8s.ovn.org/",
        "policy.cilium.io/",
        "io.cilium",
        "ipam.cilium.io/",
    ): "would give agents another network",
    (
        "container.apparmor.security.beta.kubernetes.io/",
        "container.seccomp.security.alpha.kubernetes.io/",
        "seccomp.security.alpha.kubernetes.io/",
    ): "would loosen the sandbox",
    (
        "sidecar.istio.io/inject",
        "linkerd.io/inject",
        "cluster-autoscaler.kubernetes.io/safe-to-evict",
        "karpenter.sh/do-not-disrupt",
    ): "is set by Proctor in every trial",
}
_LEAVE_OUT = "leave it out"
_KEY = re.compile(
    r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
)
_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?")


def template_problems(template: PodTemplate, field: str) -> Iterator[Problem]:
    """All that is wrong with one layer's template."""
    yield from _key_problems(template.labels, f"{field}.labels")
    yield from _key_problems(template.annotations, f"{field}.annotations")
    yield from _value_problems(template.labels, f"{field}.labels")
    yield from _value_problems(template.node_selector, f"{field}.nodeSelector")
    priority = template.priority_class_name
    if priority is not None and priority.startswith("system-"):
        yield Problem(
            f"{field}.priorityClassName",
            f"{priority!r} is for the cluster's own pods",
            "name a PriorityClass made for evaluations",
        )
    for index, volume in enumerate(template.volumes):
        before = template.volumes[:index]
        yield from _volume_problems(volume, before, f"{field}.volumes[{index}]")


def persist_problems(
    template: PodTemplate | None, persist: Sequence[str], field: str
) -> Iterator[Problem]:
    """Volumes that cover a folder that passes from agent to checks, once layers are merged."""
    for volume in template.volumes if template else ():
        for path in persist:
            if overlap(volume.mount_path, path):
                yield Problem(
                    field,
                    f"volume {volume.name!r} at {volume.mount_path!r} overlaps sandbox.persist "
                    f"{path!r}",
                    "mount it somewhere else, or leave the folder out of persist",
                )


def _key_problems(words: Mapping[str, str], field: str) -> Iterator[Problem]:
    for key in words:
        if not _KEY.fullmatch(key):
            yield Problem(field, f"{key!r} is no key", "write NAME or PREFIX/NAME")
        for prefixes, why in _REFUSED.items():
            if key.startswith(prefixes):
                yield Problem(field, f"{key!r} {why}", _LEAVE_OUT)


def _value_problems(words: Mapping[str, str], field: str) -> Iterator[Problem]:
    for key, value in words.items():
        if not _VALUE.fullmatch(value):
            yield Problem(
                f"{field}.{key}",
                f"{value!r} is no value of a label",
                "use letters, digits and - _ . between them, at most 63",
            )


def _volume_problems(
    volume: PodVolume, before: Sequence[PodVolume], field: str
) -> Iterator[Problem]:
    sources = (volume.empty_dir, volume.config_map, volume.secret, volume.persistent_volume_claim)
    given = sum(source is not None for source in sources)
    if given != 1:
        yield Problem(
            field,
            f"volume {volume.name!r} has {given} sources",
            "give exactly one of emptyDir, configMap, secret and persistentVolumeClaim",
        )
    if volume.name in [one.name for one in before]:
        yield Problem(
            f"{field}.name", f"the volume {volume.name!r} is there twice", "rename one of them"
        )
    yield from _path_problems(volume, before, field)


def _path_problems(volume: PodVolume, before: Sequence[PodVolume], field: str) -> Iterator[Problem]:
    path = volume.mount_path
    others = (*RESERVED, *SYSTEM, *(one.mount_path for one in before))
    taken = [other for other in others if overlap(path, other)]
    if taken or path in ("/etc", "/usr", "/bin", "/lib") or _leads_out(path):
        reason = f"overlaps {taken[0]}" if taken else "would hide the image's own files"
        yield Problem(
            f"{field}.mountPath", f"{path!r} {reason}", "name a folder of its own, such as /data"
        )
    items = [source.items for source in (volume.config_map, volume.secret) if source]
    inner = [volume.sub_path or "", *(item.path for group in items for item in group)]
    if any(_leads_out(one) for one in inner):
        yield Problem(field, "a path in it leads out of the volume", "write it without `..`")


def _leads_out(path: str) -> bool:
    return ".." in path.split("/")
