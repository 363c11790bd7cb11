"""What each phase of a trial is told: the runner's input. Standard library only.

Orders hold what all repeats of one (task, variant) share, so that a run writes them once. What
differs between trials (ids, folders, keys) is ``Places`` and ``TrialRef``: arguments of the phase.
"""

import base64
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from proctor.api.evidence import Command

ORDERS_VERSION = 1


@dataclass(frozen=True, slots=True)
class FileOrder:
    """One file to lay down."""

    path: str
    data: bytes
    executable: bool = False

    def to_json(self) -> dict[str, Any]:
        """Write it, bytes as base64."""
        return {
            "path": self.path,
            "data": base64.b64encode(self.data).decode(),
            "executable": self.executable,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote."""
        return cls(body["path"], base64.b64decode(body["data"]), body["executable"])


@dataclass(frozen=True, slots=True)
class ShellOrder:
    """A ``preRun`` or ``postRun`` command, run by the image's ``sh -c`` in the workspace."""

    command: str
    timeout_seconds: int
    fail_on_error: bool = False


@dataclass(frozen=True, slots=True)
class AgentOrders:
    """For the phase ``agent``: only what an agent may see.

    Args:
        adapter: ``module:attribute`` of the adapter's factory.
        options: Checked options of the agent type, defaults filled in.
        max_turns: Most main-thread model calls for a user message; None: no limit.
        secret_env: Names of the agent's variables whose values the phase's own process has.
    """

    agent: str
    adapter: str
    model: str | None
    options: Mapping[str, Any]
    env: Mapping[str, str]
    prompt: str | None
    files: tuple[FileOrder, ...]
    pre_run: tuple[ShellOrder, ...]
    max_turns: int | None
    task_timeout_seconds: int
    turn_timeout_seconds: int
    secret_env: tuple[str, ...] = ()
    version: int = ORDERS_VERSION

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON."""
        return {**asdict(self), "files": [file.to_json() for file in self.files]}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote."""
        return cls(
            **{
                **body,
                "files": tuple(FileOrder.from_json(file) for file in body["files"]),
                "pre_run": tuple(ShellOrder(**order) for order in body["pre_run"]),
                "secret_env": tuple(body["secret_env"]),
            }
        )


@dataclass(frozen=True, slots=True)
class CriterionCommands:
    """The commands of one criterion, by its position in the trial's criteria."""

    index: int
    commands: tuple[Command, ...]


@dataclass(frozen=True, slots=True)
class ChecksOrders:
    """For the phase ``checks``: commands, and hidden files below ``$REFERENCE_DIR``."""

    commands: tuple[CriterionCommands, ...]
    reference: tuple[FileOrder, ...]
    pre_run: tuple[ShellOrder, ...]
    post_run: tuple[ShellOrder, ...]
    timeout_seconds: int
    version: int = ORDERS_VERSION

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON."""
        return {
            **asdict(self),
            "commands": [
                {"index": one.index, "commands": [command.to_json() for command in one.commands]}
                for one in self.commands
            ],
            "reference": [file.to_json() for file in self.reference],
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote."""
        return cls(
            **{
                **body,
                "commands": tuple(
                    CriterionCommands(
                        one["index"], tuple(Command.from_json(c) for c in one["commands"])
                    )
                    for one in body["commands"]
                ),
                "reference": tuple(FileOrder.from_json(file) for file in body["reference"]),
                "pre_run": tuple(ShellOrder(**order) for order in body["pre_run"]),
                "post_run": tuple(ShellOrder(**order) for order in body["post_run"]),
            }
        )


@dataclass(frozen=True, slots=True)
class CriterionOrder:
    """One criterion for ``grade``.

    Args:
        name: Name, or type and position.
        options: Its own fields, as written, camelCase.
        pass_threshold: The type's default already filled in.
        commands: How many results ``checks`` owes for it.
    """

    type: str
    name: str
    weight: float
    pass_threshold: float
    options: Mapping[str, Any]
    commands: int = 0


@dataclass(frozen=True, slots=True)
class ArtifactsOrder:
    """Files of the frozen workspace to keep: globs, and bytes of all together."""

    paths: tuple[str, ...]
    max_bytes: int


@dataclass(frozen=True, slots=True)
class GradeOrders:
    """For the phase ``grade``.

    Args:
        artifacts: What the record keeps of the workspace; None: nothing.
        has_checks: Whether a phase ``checks`` was ordered, so that its evidence is owed.
        agent_runs: False for agent type ``none``.
        lineage: Dotted path of each merged field → the layer that it came from.
        context: Suite, agent, model and the like, copied into the record.
    """

    criteria: tuple[CriterionOrder, ...]
    reference: tuple[FileOrder, ...]
    has_checks: bool
    agent_runs: bool
    timeout_seconds: int
    lineage: Mapping[str, str] = field(default_factory=dict)
    context: Mapping[str, str | None] = field(default_factory=dict)
    artifacts: ArtifactsOrder | None = None
    version: int = ORDERS_VERSION

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON."""
        return {**asdict(self), "reference": [file.to_json() for file in self.reference]}

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote."""
        return cls(
            **{
                **body,
                "criteria": tuple(CriterionOrder(**criterion) for criterion in body["criteria"]),
                "reference": tuple(FileOrder.from_json(file) for file in body["reference"]),
                "artifacts": _artifacts(body.get("artifacts")),
            }
        )


def _artifacts(body: Mapping[str, Any] | None) -> ArtifactsOrder | None:
    return None if body is None else ArtifactsOrder(tuple(body["paths"]), body["max_bytes"])


@dataclass(frozen=True, slots=True)
class TrialOrders:
    """All orders of one (task, variant). ``checks`` is None when no command must run."""

    agent: AgentOrders
    checks: ChecksOrders | None
    grade: GradeOrders


@dataclass(frozen=True, slots=True)
class TrialRef:
    """Which trial and attempt a phase belongs to.

    ``uid`` is the EvalTrial's UID in a cluster and a random id locally.
    """

    run: str
    task: str
    variant: str
    repeat: int
    uid: str
    attempt: int

    @property
    def label(self) -> str:
        """The trial's name in every run of its spec: ``task/variant/repeat``."""
        return f"{self.task}/{self.variant}/{self.repeat}"
