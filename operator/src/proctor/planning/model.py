"""Planning's nouns: what is handed in, and the plan that comes out. All of it is frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from proctor.api.container import ChecksPlace, Resources, SandboxUser, Service
from proctor.api.egress import Egress, EgressMode
from proctor.api.evalrun import EvalRunSpec, ModelsMode
from proctor.api.evaltrial import TrialLimits
from proctor.api.orders import TrialOrders
from proctor.api.pod_template import PodTemplate
from proctor.api.secret_refs import SecretKey, SecretUse
from proctor.api.task import Task
from proctor.api.workspace import GitRepository
from proctor.planning.layers import Layer
from proctor.planning.places import SourceMap
from proctor.planning.secret_uses import given_secrets

WORKSPACE = "/workspace"
"""Where the agent works, unless its workspace lives in the image."""


@dataclass(frozen=True, slots=True)
class RunSource:
    """An EvalRun as somebody wrote it.

    Args:
        name: Of the run, at most 40 characters.
        seed: Of the order of trials; the same seed gives the same order.
        overrides: The topmost layer, from command line flags; None when there are none.
        places: Where each field was written; empty when it came from an API server.
        size_bytes: Of the document for `kubectl apply`; None: it was no EvalRun document.
        config_maps: What the ConfigMaps hold that its workspaces name, by name and key.
        bundles: Tasks of the bundles that it names, by digest (``sha256:…``).
        egress_modes: Those that are offered where it is to run.
    """

    name: str
    spec: EvalRunSpec
    seed: str = ""
    overrides: Layer | None = None
    places: SourceMap = field(default_factory=SourceMap)
    size_bytes: int | None = None
    config_maps: Mapping[str, Mapping[str, bytes]] = field(default_factory=dict)
    bundles: Mapping[str, tuple[Task, ...]] = field(default_factory=dict)
    egress_modes: frozenset[EgressMode] = frozenset(EgressMode)


@dataclass(frozen=True, slots=True, order=True)
class TrialId:
    """One (task, variant, repeat); ``repeat`` counts from 0."""

    task: str
    variant: str
    repeat: int


@dataclass(frozen=True, slots=True)
class Cell:
    """What all repeats of one (task, variant) share, with everything merged.

    Args:
        model: None: the agent's own choice.
        image: None: the launcher's default task image.
        services: Servers beside the agent; their resources are set.
        workspace: Absolute path of the workspace in the task's containers.
        from_image: Whether it is filled from that path of the task's image.
        git: The repository that it is filled from; None: from none.
        checks_place: Where commands of criteria run.
        user: Which user the task's containers run as.
        persist: Absolute folders that pass from agent to checks, besides workspace and HOME.
        resources: All fields are set.
        pod: What its pods get besides.
        env: Plain variables of the agent.
        secret_env: Variables of the agent whose values are secrets, by name.
        secrets: Every Secret that its agent is given.
        limits: What the gateway enforces.
        criteria: Names, by index; unique.
        needs_model: Whether its pod gets a key for the gateway.
        models: Who answers its model calls.
        egress: What it may reach.
    """

    task: str
    variant: str
    agent: str
    model: str | None
    image: str | None
    persist: tuple[str, ...]
    resources: Resources
    pod: PodTemplate
    env: Mapping[str, str]
    secret_env: Mapping[str, SecretKey]
    secrets: tuple[SecretUse, ...]
    limits: TrialLimits
    task_timeout_seconds: int
    turn_timeout_seconds: int
    grade_timeout_seconds: int
    criteria: tuple[str, ...]
    orders: TrialOrders
    needs_model: bool
    models: ModelsMode
    egress: Egress
    user: SandboxUser = SandboxUser.NON_ROOT
    services: tuple[Service, ...] = ()
    workspace: str = WORKSPACE
    from_image: bool = False
    git: GitRepository | None = None
    checks_place: ChecksPlace = ChecksPlace.SEPARATE

    @property
    def fetches(self) -> bool:
        """Whether its pod fetches a repository before the agent starts."""
        return self.git is not None

    @property
    def checks_in_place(self) -> bool:
        """Whether there are commands, and they run in the agent's own container."""
        return self.orders.checks is not None and self.checks_place is ChecksPlace.IN_PLACE

    @property
    def agent_asks_models(self) -> bool:
        """Whether the agent itself gets a key; ``grade`` gets its own in any case."""
        return self.needs_model and self.egress.mode is not EgressMode.NONE


@dataclass(frozen=True, slots=True)
class RunPlan:
    """Which trials exist, in the order in which they start.

    Args:
        trials: Each once: repeats outermost, then tasks, variants alternating.
        cells: By (task, variant); one for each that occurs in ``trials``.
    """

    trials: tuple[TrialId, ...]
    cells: Mapping[tuple[str, str], Cell]
    seed: str

    @property
    def secrets(self) -> tuple[SecretUse, ...]:
        """Every Secret that its agents are given, each use once, in a fixed order."""
        return given_secrets(use for cell in self.cells.values() for use in cell.secrets)
