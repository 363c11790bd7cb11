"""What a run may ask of its pods: a closed list, as who writes EvalRuns is no administrator."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from proctor.api.base import RelativePath, Spec
from proctor.api.quantity import Quantity
from proctor.api.secret_refs import ObjectKey, ObjectName

Word = Annotated[str, StringConstraints(max_length=317)]
"""A key of a label or an annotation: a prefix of 253 characters, a slash, a name of 63."""

ShortWord = Annotated[str, StringConstraints(max_length=63)]
Note = Annotated[str, StringConstraints(max_length=4096)]
MountPath = Annotated[
    str, StringConstraints(pattern=r"^/[^\x00-\x1f:]*[^/\x00-\x1f:]$", min_length=2, max_length=255)
]
Selector = Annotated[
    dict[str, Any] | None, Field(description="As in Kubernetes; the API server checks it.")
]


class Toleration(Spec):
    """A taint of nodes that pods tolerate, as in Kubernetes."""

    key: Annotated[Word | None, Field(description="Key of the taint. Absent: every key.")] = None
    operator: Annotated[Literal["Exists", "Equal"] | None, Field(description="Absent: Equal.")] = (
        None
    )
    value: Annotated[ShortWord | None, Field(description="Value of the taint.")] = None
    effect: Annotated[
        Literal["NoSchedule", "PreferNoSchedule", "NoExecute"] | None,
        Field(description="Absent: every effect."),
    ] = None
    toleration_seconds: Annotated[
        int | None, Field(ge=0, description="How long NoExecute is tolerated. Absent: for ever.")
    ] = None


class TopologySpread(Spec):
    """How pods are spread over nodes, as in Kubernetes."""

    max_skew: Annotated[int, Field(ge=1, description="Largest difference between two domains.")]
    topology_key: Annotated[Word, Field(description="Label of nodes that makes the domains.")]
    when_unsatisfiable: Annotated[
        Literal["DoNotSchedule", "ScheduleAnyway"], Field(description="What happens then.")
    ]
    label_selector: Selector = None
    min_domains: Annotated[int | None, Field(ge=1, description="Least domains.")] = None
    node_affinity_policy: Annotated[
        Literal["Honor", "Ignore"] | None, Field(description="Absent: Honor.")
    ] = None
    node_taints_policy: Annotated[
        Literal["Honor", "Ignore"] | None, Field(description="Absent: Ignore.")
    ] = None
    match_label_keys: Annotated[
        tuple[Word, ...], Field(max_length=16, description="Labels of pods that count as well.")
    ] = ()


class Affinity(Spec):
    """Which nodes pods want, and beside which pods, as in Kubernetes."""

    node_affinity: Selector = None
    pod_affinity: Selector = None
    pod_anti_affinity: Selector = None


class PullSecret(Spec):
    """A Secret in the run's namespace with which images are pulled; no container sees it."""

    name: Annotated[ObjectName, Field(description="Its name.")]


class VolumeItem(Spec):
    """One key of a ConfigMap or Secret, as a file."""

    key: Annotated[ObjectKey, Field(description="Key in its data.")]
    path: Annotated[RelativePath, Field(description="Path of the file below the mount path.")]


Items = Annotated[
    tuple[VolumeItem, ...], Field(max_length=64, description="Keys to show. Absent: all.")
]


class EmptyDirSource(Spec):
    """A folder of the pod's own, empty at first."""

    size_limit: Annotated[Quantity | None, Field(description="Absent: 1Gi.")] = None


class ConfigMapSource(Spec):
    """A ConfigMap in the run's namespace."""

    name: Annotated[ObjectName, Field(description="Its name.")]
    items: Items = ()


class SecretSource(Spec):
    """A Secret in the run's namespace. The run's status names it."""

    secret_name: Annotated[ObjectName, Field(description="Its name.")]
    items: Items = ()


class ClaimSource(Spec):
    """A PersistentVolumeClaim in the run's namespace."""

    claim_name: Annotated[ObjectName, Field(description="Its name.")]
    read_only: Annotated[
        bool | None,
        Field(description="Absent: true. What one trial writes, the others read: see to it."),
    ] = None


class PodVolume(Spec):
    """A volume; exactly one of emptyDir, configMap, secret and persistentVolumeClaim."""

    name: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=50),
        Field(description="Unique in the list."),
    ]
    empty_dir: Annotated[EmptyDirSource | None, Field(description="A folder of its own.")] = None
    config_map: Annotated[ConfigMapSource | None, Field(description="A ConfigMap.")] = None
    secret: Annotated[SecretSource | None, Field(description="A Secret.")] = None
    persistent_volume_claim: Annotated[ClaimSource | None, Field(description="A claim.")] = None
    mount_path: Annotated[MountPath, Field(description="Folder in the container.")]
    sub_path: Annotated[RelativePath | None, Field(description="Only this path of the volume.")] = (
        None
    )
    mount_in: Annotated[
        Literal["Agent", "AgentAndChecks"] | None,
        Field(description="Absent: Agent. In the container checks it is always read-only."),
    ] = None


class PodTemplate(Spec):
    """What pods of trials get besides what Proctor gives them. Acts in a cluster only."""

    labels: Annotated[
        dict[Word, ShortWord], Field(max_length=32, description="Labels; none of Proctor's own.")
    ] = {}
    annotations: Annotated[
        dict[Word, Note], Field(max_length=32, description="Annotations; none of Proctor's own.")
    ] = {}
    node_selector: Annotated[
        dict[Word, ShortWord], Field(max_length=32, description="Labels that nodes must have.")
    ] = {}
    tolerations: Annotated[
        tuple[Toleration, ...], Field(max_length=32, description="Taints that are tolerated.")
    ] = ()
    affinity: Annotated[Affinity | None, Field(description="Which nodes they want.")] = None
    topology_spread_constraints: Annotated[
        tuple[TopologySpread, ...], Field(max_length=8, description="How they are spread.")
    ] = ()
    priority_class_name: Annotated[
        ObjectName | None, Field(description="PriorityClass; none of the system's.")
    ] = None
    runtime_class_name: Annotated[
        ObjectName | None, Field(description="RuntimeClass, such as one of gVisor or Kata.")
    ] = None
    scheduler_name: Annotated[ObjectName | None, Field(description="Absent: the default.")] = None
    image_pull_secrets: Annotated[
        tuple[PullSecret, ...], Field(max_length=8, description="For the task's image.")
    ] = ()
    volumes: Annotated[
        tuple[PodVolume, ...],
        Field(max_length=16, description="Mounted where the agent runs, unless they say more."),
    ] = ()
