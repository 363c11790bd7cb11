"""What an agent did, as events; one JSON object a line in ``transcript.jsonl``.

Standard library only. Every event has ``at`` (UTC, ISO 8601) and ``thread`` (None: the main
thread; else the id of a sub-agent). The shapes carry what real agents report: generations,
text, thinking, tool calls with their results, and one end on every exit.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from proctor.api.usage import Usage

ToolStatus = Literal["ok", "error", "permission_denied", "unresolved"]
EndStatus = Literal["completed", "crashed", "timeout", "max_turns", "stopped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Event:
    at: str
    thread: str | None = None
    parent_thread: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentStart(_Event):
    """A user message goes to the agent. ``turn`` counts user messages from 1."""

    prompt: str
    turn: int
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStart(_Event):
    """The agent asks its model."""

    generation: str
    model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TextChunk(_Event):
    """Text (or thinking) of a generation."""

    generation: str
    text: str
    thinking: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStart(_Event):
    """A tool call begins."""

    generation: str
    call: str
    tool: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolEnd(_Event):
    """A tool call ended. ``result`` is its text, at most 64 KiB."""

    call: str
    status: ToolStatus
    result: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationEnd(_Event):
    """The model answered. ``usage`` is what the agent reports, never what is billed."""

    generation: str
    status: str = "completed"
    stop_reason: str | None = None
    usage: Usage | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEnd(_Event):
    """The agent answered a user message, or failed to; exactly one for each ``AgentStart``.

    ``generations`` counts main-thread model calls; None when the adapter cannot tell.
    """

    turn: int
    status: EndStatus
    output: str = ""
    generations: int | None = None
    crash_reason: str | None = None
    seconds: float = 0.0


Event = AgentStart | GenerationStart | TextChunk | ToolStart | ToolEnd | GenerationEnd | AgentEnd


def to_json(event: Event) -> dict[str, Any]:
    """Write an event with its type as ``event``."""
    return {"event": type(event).__name__, **asdict(event)}
