"""What a run is made of: agents, files, commands, criteria, limits, sandboxes, tasks, variants."""

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, StringConstraints

from proctor.api.base import (
    Name,
    Open,
    Spec,
    TaskName,
)
from proctor.api.container import (
    MAX_SERVICES,
    AbsolutePath,
    ChecksPlace,
    EnvVar,
    ImageReference,
    Resources,
    SandboxUser,
    Service,
)
from proctor.api.egress import Egress
from proctor.api.pod_template import PodTemplate
from proctor.api.secret_refs import SecretEnvVar
from proctor.api.workspace import Files, Text, Workspace

MAX_CRITERIA = 50
ShortText = Annotated[str, StringConstraints(max_length=1024)]
Tag = Annotated[
    str,
    StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*(:[a-z0-9]+(-[a-z0-9]+)*)?$", max_length=63),
]
AgentType = Annotated[
    str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)
]
CriterionType = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=63)]
Ratio = Annotated[float, Field(ge=0, le=1)]


class AgentSpec(Spec):
    """The thing under test."""

    type: Annotated[
        AgentType | None,
        Field(description="Adapter: none, command or mini."),
    ] = None
    model: Annotated[
        str | None,
        StringConstraints(min_length=1, max_length=253),
        Field(
            description="Model that the agent asks the gateway for. Absent: the agent's own choice."
        ),
    ] = None
    options: Annotated[
        dict[str, JsonValue],
        Field(description="Options of this agent type, checked against its schema."),
    ] = {}
    env: Annotated[
        tuple[EnvVar, ...],
        Field(max_length=64, description="Plain environment variables of the agent."),
    ] = ()
    secret_env: Annotated[
        tuple[SecretEnvVar, ...],
        Field(
            max_length=32,
            description="Variables of the agent whose values are secrets. The agent can read them; "
            "the run's status names each Secret, and values are taken out of all that is kept.",
        ),
    ] = ()


class CommandSpec(Spec):
    """A command that a task runs around the agent, by the image's `sh -c`."""

    command: Annotated[
        str,
        StringConstraints(min_length=1, max_length=8192),
        Field(description="Command line, run by the image's shell in the workspace."),
    ]
    timeout_seconds: Annotated[int, Field(ge=1, le=3600, description="Limit in seconds.")] = 30


class PreRunCommand(CommandSpec):
    """A command that prepares the place where the agent, and later its checks, run."""

    fail_on_error: Annotated[
        bool,
        Field(description="Whether a non-zero exit ends the attempt as a configuration error."),
    ] = True
    where: Annotated[
        Literal["AgentAndChecks", "Agent"],
        Field(
            alias="in",
            description="AgentAndChecks repeats it before the checks, in their own container.",
        ),
    ] = "AgentAndChecks"


class CriterionSpec(Open):
    """One check of the outcome. Its other fields belong to its type."""

    type: Annotated[CriterionType, Field(description="Criterion type, such as run_command.")]
    name: Annotated[
        str | None,
        StringConstraints(min_length=1, max_length=120),
        Field(description="Name in reports. Absent: its type and position."),
    ] = None
    weight: Annotated[
        float,
        Field(ge=0, le=1000, description="Share in the trial's score. 0 informs and never gates."),
    ] = 1.0
    pass_threshold: Annotated[
        Ratio | None,
        Field(description="Score from which it counts as passed. Absent: the type's default, 0.9."),
    ] = None

    def options(self) -> dict[str, Any]:
        """The fields that belong to the type, as they were written."""
        return dict(self.model_extra or {})


class Limits(Spec):
    """What one trial may use. Absent means no limit, unless a default is given."""

    max_turns: Annotated[
        int | None,
        Field(ge=1, le=10_000, description="Most main-thread model calls for each user message."),
    ] = None
    max_model_calls: Annotated[
        int | None, Field(ge=1, le=100_000, description="Most model calls, counted by the gateway.")
    ] = None
    max_total_tokens: Annotated[
        int | None,
        Field(
            ge=1, le=1_000_000_000, description="Most tokens of all kinds, cached ones included."
        ),
    ] = None
    max_usd: Annotated[
        float | None,
        Field(gt=0, le=100_000, description="Most US dollars for model calls."),
    ] = None
    task_timeout_seconds: Annotated[
        int | None,
        Field(ge=1, le=86_400, description="Limit for the agent's part, all turns. Default 600."),
    ] = None
    turn_timeout_seconds: Annotated[
        int | None,
        Field(
            ge=1, le=86_400, description="Limit for the answer to one user message. Default 300."
        ),
    ] = None
    grade_timeout_seconds: Annotated[
        int | None,
        Field(ge=1, le=86_400, description="Limit for checks and grading together. Default 600."),
    ] = None


DEFAULT_TASK_TIMEOUT_SECONDS = 600
DEFAULT_TURN_TIMEOUT_SECONDS = 300
DEFAULT_GRADE_TIMEOUT_SECONDS = 600


DEFAULT_ARTIFACTS_MIB = 50

ArtifactGlob = Annotated[
    str, StringConstraints(pattern=r"^[^/\x00-\x1f][^\x00-\x1f]*$", min_length=1, max_length=255)
]


class Artifacts(Spec):
    """What of the workspace goes into the record, as the agent left it."""

    paths: Annotated[
        tuple[ArtifactGlob, ...],
        Field(
            min_length=1,
            max_length=20,
            description="Globs below the workspace: ** takes folders, * and ? stop at /.",
        ),
    ]
    max_mib: Annotated[
        int | None,
        Field(
            ge=1,
            le=1024,
            alias="maxMiB",
            description="All files together; what does not fit is named in artifacts.json. "
            "Default 50.",
        ),
    ] = None


class Sandbox(Spec):
    """Where the agent runs."""

    image: Annotated[
        ImageReference | None,
        Field(description="Any Linux image. Absent: the operator's default task image."),
    ] = None
    user: Annotated[
        SandboxUser | None,
        Field(
            description="NonRoot: a fixed user without rights. Image: what the image says, root "
            "included, where the operator allows it. Default NonRoot."
        ),
    ] = None
    checks: Annotated[
        ChecksPlace | None,
        Field(
            description="Separate: commands of criteria run in a container of their own, on a copy "
            "of the workspace. InPlace: in the agent's own, once nothing of the agent runs any "
            "more, for tasks about the machine itself; the record says so. Default Separate."
        ),
    ] = None
    persist: Annotated[
        tuple[AbsolutePath, ...],
        Field(
            max_length=8,
            description="Folders that pass from agent to checks, besides workspace and HOME.",
        ),
    ] = ()
    services: Annotated[
        tuple[Service, ...],
        Field(max_length=MAX_SERVICES, description="Servers beside the agent. Needs a cluster."),
    ] = ()
    resources: Annotated[Resources | None, Field(description="CPU, memory and disk.")] = None
    pod_template: Annotated[
        PodTemplate | None, Field(description="Placement, volumes and the like of its pods.")
    ] = None
    egress: Annotated[
        Egress | None, Field(description="What the trial may reach. Absent: mode ModelOnly.")
    ] = None
    artifacts: Annotated[
        Artifacts | None, Field(description="Files of the workspace that the record keeps.")
    ] = None


class Task(Spec):
    """A prompt, a starting workspace, criteria and limits."""

    name: Annotated[
        TaskName, Field(description="Unique in the run: letters and digits, with - _ . / between.")
    ]
    description: Annotated[
        Annotated[str, StringConstraints(max_length=4096)] | None,
        Field(description="For people; no agent sees it."),
    ] = None
    prompt: Annotated[
        Text | None, Field(description="What the agent is asked. Absent only for agent type none.")
    ] = None
    tags: Annotated[tuple[Tag, ...], Field(max_length=50, description="For selection.")] = ()
    agent: Annotated[AgentSpec | None, Field(description="Overlay on the run's agent.")] = None
    workspace: Annotated[Workspace | None, Field(description="What the agent starts with.")] = None
    reference: Annotated[
        Files | None,
        Field(
            description="Files hidden from the agent; commands of criteria find them below "
            "$REFERENCE_DIR."
        ),
    ] = None
    criteria: Annotated[
        tuple[CriterionSpec, ...],
        Field(max_length=MAX_CRITERIA, description="Checks of the outcome."),
    ] = ()
    pre_run: Annotated[
        tuple[PreRunCommand, ...], Field(max_length=20, description="Commands before the agent.")
    ] = ()
    post_run: Annotated[
        tuple[CommandSpec, ...],
        Field(max_length=20, description="Commands after the checks; they never change a verdict."),
    ] = ()
    limits: Annotated[Limits | None, Field(description="Overlay on the run's limits.")] = None
    sandbox: Annotated[Sandbox | None, Field(description="Overlay on the run's sandbox.")] = None


class PromptOverlay(Spec):
    """How a variant changes each task's prompt."""

    prefix: Annotated[Text | None, Field(description="Put before it, with a blank line.")] = None
    suffix: Annotated[Text | None, Field(description="Put after it, with a blank line.")] = None
    text: Annotated[Text | None, Field(description="Put in its place.")] = None


class Variant(Spec):
    """A named overlay: what an A/B test compares."""

    name: Annotated[Name, Field(description="Unique in the run.")]
    agent: Annotated[AgentSpec | None, Field(description="Overlay on the agent.")] = None
    prompt: Annotated[PromptOverlay | None, Field(description="Change of the prompt.")] = None
    workspace: Annotated[
        Workspace | None,
        Field(description="Files laid over those of the task; an image's folder in its place."),
    ] = None
    limits: Annotated[Limits | None, Field(description="Overlay on the limits.")] = None
    sandbox: Annotated[Sandbox | None, Field(description="Overlay on the sandbox.")] = None
