"""EvalRun's spec: which tasks, which variants, how often, under which limits."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from proctor.api.base import RelativePath, Spec
from proctor.api.results import DIGEST_SCHEME
from proctor.api.task import (
    MAX_CRITERIA,
    AgentSpec,
    CommandSpec,
    CriterionSpec,
    Limits,
    PreRunCommand,
    Ratio,
    Sandbox,
    ShortText,
    Tag,
    Task,
    Variant,
)
from proctor.api.workspace import Text

MAX_INLINE_TASKS = 200
MAX_TASK_SOURCES = 10
MAX_TASKS = 1000
"""Of a run, wherever they come from, and of a bundle."""

MAX_VARIANTS = 20
MAX_REPEATS = 100
MUTABLE = frozenset({"suspend", "cancelled", "parallelism", "ttl_seconds_after_finished"})
"""Fields of a spec that may change once its run has started."""

MAX_RUN_NAME = 40
"""Pod names and label values (63 characters) derive from a run's name."""


class ModelsMode(StrEnum):
    """Who answers model calls."""

    LIVE = "Live"
    RECORD = "Record"
    REPLAY = "Replay"
    SCRIPTED = "Scripted"


class ConfigMapKey(Spec):
    """A key of a ConfigMap in the run's namespace."""

    name: Annotated[
        str,
        StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$", max_length=253),
        Field(description="Name of the ConfigMap."),
    ]
    key: Annotated[
        str,
        StringConstraints(pattern=r"^[-._a-zA-Z0-9]+$", max_length=253),
        Field(description="Key in its data."),
    ] = "script.yaml"


class Script(Spec):
    """Scripted answers; exactly one of the fields."""

    inline: Annotated[Text | None, Field(description="The script itself, as YAML text.")] = None
    config_map: Annotated[
        ConfigMapKey | None, Field(description="A ConfigMap that holds the script.")
    ] = None


class CassetteKey(ConfigMapKey):
    """A key of a ConfigMap that holds a cassette."""

    key: Annotated[
        str,
        StringConstraints(pattern=r"^[-._a-zA-Z0-9]+$", max_length=253),
        Field(description="Key in its data."),
    ] = "cassette.yaml"


class CassetteVolume(Spec):
    """A file on the gateway's volume of cassettes, in the folder of the run's namespace."""

    path: Annotated[RelativePath, Field(description="Path below the namespace's folder.")]


class Cassette(Spec):
    """Where recorded calls stand; exactly one of the fields."""

    config_map: Annotated[
        CassetteKey | None, Field(description="A ConfigMap to replay; it must be immutable.")
    ] = None
    volume: Annotated[
        CassetteVolume | None,
        Field(description="A file on the gateway's volume, to record to or to replay."),
    ] = None
    file: Annotated[
        ShortText | None,
        Field(
            min_length=1,
            description="A file beside this one, for `proctor run` only: a cluster refuses it.",
        ),
    ] = None


class Models(Spec):
    """How model calls are answered."""

    mode: Annotated[
        ModelsMode,
        Field(
            description="Live asks the provider. Record does, and writes every call to the "
            "cassette. Replay answers from the cassette, Scripted from the script, at no cost."
        ),
    ] = ModelsMode.LIVE
    script: Annotated[Script | None, Field(description="The script, for mode Scripted.")] = None
    cassette: Annotated[
        Cassette | None, Field(description="The cassette, for modes Record and Replay.")
    ] = None


class FailurePolicy(Spec):
    """What happens when an attempt fails for a reason that is not the agent's."""

    infra_retries: Annotated[
        int, Field(ge=0, le=20, description="Further attempts of a trial after platform faults.")
    ] = 3
    pending_timeout_seconds: Annotated[
        int, Field(ge=10, le=86_400, description="How long a pod may wait to start.")
    ] = 600
    retry_on_oom: Annotated[
        bool,
        Field(
            alias="retryOnOOM", description="Whether an agent that ran out of memory runs again."
        ),
    ] = False


class Budget(Spec):
    """What the whole run may spend."""

    usd: Annotated[
        float,
        Field(
            gt=0,
            le=1_000_000,
            description="Most US dollars for all model calls of the run, those of judges and of "
            "attempts that were lost included. When it is used up, agents that run are refused, "
            "and no trial starts any more.",
        ),
    ]


class Gate(Spec):
    """What the run must reach; `proctor run` exits 1 and GatePassed is False when it does not."""

    min_pass_ratio: Annotated[
        Ratio | None, Field(description="Least share of scored trials that passed.")
    ] = None
    min_score: Annotated[Ratio | None, Field(description="Least mean score of scored trials.")] = (
        None
    )
    min_completion_ratio: Annotated[
        Ratio, Field(description="Least share of all trials that have a score.")
    ] = 1.0


class Select(Spec):
    """Which of the tasks run; a task must match every field that is given."""

    tags: Annotated[
        tuple[Tag, ...], Field(max_length=50, description="Tasks with at least one of these tags.")
    ] = ()
    tasks: Annotated[
        tuple[ShortText, ...],
        Field(max_length=200, description="Names or patterns such as web/*."),
    ] = ()
    limit: Annotated[int | None, Field(ge=1, le=100_000, description="Only the first ones.")] = None


class BundleReference(Spec):
    """Tasks that lie on the results server, for the run's namespace."""

    digest: Annotated[
        Annotated[
            str, StringConstraints(pattern=f"^{DIGEST_SCHEME}[0-9a-f]{{64}}$", max_length=71)
        ],
        Field(description="As `proctor push FOLDER` prints it."),
    ]


class TaskSource(Spec):
    """Where further tasks come from."""

    bundle: Annotated[
        BundleReference, Field(description="A folder that `proctor push` sent. Needs a cluster.")
    ]


class EvalRunSpec(Spec):
    """Tasks × variants × repeats, and the limits for all of it."""

    suite: Annotated[
        Annotated[
            str,
            StringConstraints(
                pattern=r"^[A-Za-z0-9]([-A-Za-z0-9_./]*[A-Za-z0-9])?$", max_length=63
            ),
        ]
        | None,
        Field(
            description="Identity over time, for history and dashboards. Default: the run's name."
        ),
    ] = None
    agent: Annotated[AgentSpec | None, Field(description="The thing under test.")] = None
    variants: Annotated[
        tuple[Variant, ...],
        Field(
            max_length=MAX_VARIANTS, description="Overlays to compare. Absent: one called default."
        ),
    ] = ()
    repeats: Annotated[int, Field(ge=1, le=MAX_REPEATS, description="Trials of each pair.")] = 1
    tasks: Annotated[
        tuple[Task, ...],
        Field(
            min_length=1,
            max_length=MAX_INLINE_TASKS,
            description="The tasks. Absent only with tasksFrom.",
        ),
    ] = ()
    tasks_from: Annotated[
        tuple[TaskSource, ...],
        Field(
            min_length=1,
            max_length=MAX_TASK_SOURCES,
            description="Further tasks, after those of tasks.",
        ),
    ] = ()
    select: Annotated[Select | None, Field(description="Run only some of the tasks.")] = None
    criteria: Annotated[
        tuple[CriterionSpec, ...],
        Field(max_length=MAX_CRITERIA, description="Checks added to every task."),
    ] = ()
    pre_run: Annotated[
        tuple[PreRunCommand, ...],
        Field(max_length=20, description="Commands before every agent, before the task's own."),
    ] = ()
    post_run: Annotated[
        tuple[CommandSpec, ...],
        Field(max_length=20, description="Commands after all checks, after the task's own."),
    ] = ()
    sandbox: Annotated[Sandbox | None, Field(description="Where the agent runs.")] = None
    models: Annotated[Models | None, Field(description="How model calls are answered.")] = None
    limits: Annotated[Limits | None, Field(description="What one trial may use.")] = None
    budget: Annotated[Budget | None, Field(description="What the whole run may spend.")] = None
    parallelism: Annotated[
        int, Field(ge=1, le=1000, description="Trials that run at the same time.")
    ] = 10
    failure_policy: Annotated[
        FailurePolicy | None, Field(description="Further attempts after platform faults.")
    ] = None
    gate: Annotated[Gate | None, Field(description="What the run must reach.")] = None
    suspend: Annotated[
        bool, Field(description="Stop running pods and start none, until it is false again.")
    ] = False
    cancelled: Annotated[bool, Field(description="End the run; what has finished stays.")] = False
    active_deadline_seconds: Annotated[
        int | None, Field(ge=1, le=2_592_000, description="Limit for the whole run.")
    ] = None
    ttl_seconds_after_finished: Annotated[
        int | None,
        Field(
            ge=0,
            le=31_536_000,
            description="Delete the run this long after its end. Absent: never.",
        ),
    ] = None
