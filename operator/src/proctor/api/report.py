"""What the phases ``agent`` and ``checks`` leave for ``grade`` in their evidence folders.

Standard library only. Files: ``agent.json`` (AgentReport), ``transcript.jsonl`` (events) and
``checks.json`` (ChecksReport). Both are claims: they were written beside hostile code.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self

from proctor.api.evidence import CommandResult

AGENT_REPORT = "agent.json"
TRANSCRIPT = "transcript.jsonl"
CHECKS_REPORT = "checks.json"

EXIT_NOT_STARTED = 3
"""Exit code of a phase that failed before code of the task or the agent ran: never its fault."""

EXIT_NETWORK_OPEN = 4
"""Exit code of ``stage`` when the pod reaches what no trial may reach."""

EXIT_GATEWAY_UNREACHABLE = 5
"""Exit code of ``stage`` when the pod does not reach the gateway."""

EXIT_GIT_REFUSED = 6
"""Exit code of ``stage`` when a repository is not given to it, or not taken by it."""

EXIT_GIT_UNREACHABLE = 7
"""Exit code of ``stage`` when a repository's server did not answer or broke off."""

EXIT_CANNOT_START = 127
"""Exit code of the runner's launcher: no interpreter could be started, so no agent was either."""

NETWORK_CLOSED, NETWORK_OPEN = "NetworkClosed", "NetworkOpen"
"""What ``stage`` found of the pod's network, in its termination message."""

NETWORK_NOT_ENFORCED = "NetworkNotEnforced"
"""Why an attempt ended whose ``stage`` found the network open."""

NOT_STARTED_EXITS = frozenset({2, EXIT_NOT_STARTED})
"""That one, and the one for a command line that the runner does not know."""

AgentStatus = Literal[
    "completed", "crashed", "timeout", "max_turns", "setup_failed", "not_run", "interrupted"
]


@dataclass(frozen=True, slots=True)
class ShellResult:
    """How a ``preRun`` or ``postRun`` command ended; streams are cut to 4,000 characters."""

    command: str
    exit_code: int | None
    output: str
    seconds: float


@dataclass(frozen=True, slots=True)
class AgentReport:
    """How the agent's part ended.

    Args:
        status: ``setup_failed``: files or ``preRun`` failed before any agent process started,
            which is a fault of the task or the platform; ``not_run``: agent type none.
        reason: Why, when the status is not ``completed``.
        started: Whether an agent process had started.
        turns: Main-thread model calls; None when the adapter cannot tell.
        seconds: Wall time of the agent's part; None: no agent ran, or it is not known.
        memory_kills: How often its largest process group was killed to save the container.
    """

    status: AgentStatus
    reason: str = ""
    started: bool = False
    exit_code: int | None = None
    turns: int | None = None
    seconds: float | None = None
    pre_run: tuple[ShellResult, ...] = ()
    memory_kills: int = 0

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote; ``KeyError`` or ``TypeError`` if it is not."""
        return cls(**{**body, "pre_run": tuple(ShellResult(**one) for one in body["pre_run"])})


@dataclass(frozen=True, slots=True)
class ChecksReport:
    """Results of the criteria's commands, by criterion index.

    ``setup_failed`` says why no command ran (a ``preRun`` command failed), or is None.
    ``memory_kills`` counts as in ``AgentReport``.
    """

    results: Mapping[int, tuple[CommandResult, ...]]
    pre_run: tuple[ShellResult, ...] = ()
    post_run: tuple[ShellResult, ...] = ()
    seconds: float = 0.0
    setup_failed: str | None = None
    memory_kills: int = 0

    def to_json(self) -> dict[str, Any]:
        """Write it as JSON."""
        return {
            "results": {str(i): [r.to_json() for r in rs] for i, rs in self.results.items()},
            "pre_run": [asdict(one) for one in self.pre_run],
            "post_run": [asdict(one) for one in self.post_run],
            "seconds": self.seconds,
            "setup_failed": self.setup_failed,
            "memory_kills": self.memory_kills,
        }

    @classmethod
    def from_json(cls, body: Mapping[str, Any]) -> Self:
        """Read what ``to_json`` wrote; ``KeyError``, ``TypeError``, ``ValueError`` if it is not."""
        return cls(
            results={
                int(i): tuple(CommandResult.from_json(r) for r in rs)
                for i, rs in body["results"].items()
            },
            pre_run=tuple(ShellResult(**one) for one in body["pre_run"]),
            post_run=tuple(ShellResult(**one) for one in body["post_run"]),
            seconds=float(body["seconds"]),
            setup_failed=body["setup_failed"],
            memory_kills=int(body["memory_kills"]),
        )
