"""What an adapter is: the way to one kind of agent. Standard library only.

The runner makes an adapter with its factory, starts it once, gives it one user message at a time,
and stops it. An adapter keeps what the conversation needs (a session id, a history) between
turns. Events go out through ``emit`` while they happen; nothing an adapter says is billed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from proctor.api.events import AgentEnd, Event

Emit = Callable[[Event], None]


@dataclass(frozen=True, slots=True)
class Session:
    """What an adapter gets once.

    Args:
        workspace: Where the agent works; its current folder.
        home: Its HOME, outside the workspace.
        env: Complete environment of its processes; the gateway's variables are in it.
        gateway_url: Base of the model gateway, without ``/v1``; None: no model may be asked.
        api_key: Bearer key for the gateway.
        model: Model to ask for; None: the agent's own choice.
        options: Checked options of the agent type, defaults filled in, camelCase.
    """

    workspace: Path
    home: Path
    env: Mapping[str, str]
    gateway_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    model: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TurnLimits:
    """What one turn may use.

    Args:
        timeout_seconds: Wall time.
        max_turns: Main-thread model calls; None: no limit, or the agent cannot count them.
    """

    timeout_seconds: float
    max_turns: int | None = None


class Agent(Protocol):
    """The way to one agent."""

    async def start(self, session: Session) -> None:
        """Get ready. Long-lived processes of the agent begin here or in the first turn."""

    async def turn(self, prompt: str, limits: TurnLimits, emit: Emit) -> AgentEnd:
        """Give the agent one user message and wait for its answer.

        Returns:
            The turn's ``AgentEnd``, which was emitted too: exactly one on every exit. A crash, a
            timeout and reached limits are statuses of it, not exceptions.

        Raises:
            asyncio.CancelledError: When cancelled, after the ``AgentEnd`` went out.
        """

    async def stop(self) -> None:
        """End what still runs. May be called at any time and more than once."""
