"""One turn as events: stamps them, closes what is left open, ends exactly once.

Every adapter answers a user message inside ``answering``, so that a crash, a timeout and a
cancellation end the same way in all of them.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from proctor.agents.contract import Emit
from proctor.api.events import (
    AgentEnd,
    AgentStart,
    EndStatus,
    GenerationEnd,
    GenerationStart,
    TextChunk,
    ToolEnd,
    ToolStart,
    ToolStatus,
)
from proctor.api.usage import Usage

RESULT_CHARS = 65_536
OUTPUT_CHARS = 65_536


@dataclass(frozen=True, slots=True)
class Ending:
    """How a turn ended. ``crash_reason`` also tells why there was a timeout."""

    status: EndStatus = "completed"
    crash_reason: str | None = None


@dataclass(slots=True)
class Turn:
    """The events of one user message.

    Args:
        number: Counts user messages from 1.
        emit: Where events go.
        generations: Model calls so far; None as long as the adapter reports none.
        output: What the agent has answered so far; kept current, so that a turn that is cut
            short still says what there was.
    """

    number: int
    emit: Emit
    generations: int | None = None
    output: str = ""
    _began: float = field(default_factory=monotonic)
    _generation: str | None = None
    _calls: dict[str, None] = field(default_factory=dict)

    def start(self, prompt: str, model: str | None) -> None:
        """The message goes to the agent."""
        self.emit(AgentStart(at=_now(), prompt=prompt, turn=self.number, model=model))

    def generation_start(self, generation: str, model: str | None) -> None:
        """The agent asks its model."""
        self._generation = generation
        self.generations = (self.generations or 0) + 1
        self.emit(GenerationStart(at=_now(), generation=generation, model=model))

    def text(self, generation: str, text: str, *, thinking: bool = False) -> None:
        """Some text; none when it is empty."""
        if text:
            self.emit(TextChunk(at=_now(), generation=generation, text=text, thinking=thinking))

    def generation_end(
        self, status: str = "completed", stop_reason: str | None = None, usage: Usage | None = None
    ) -> None:
        """The open generation is over."""
        generation, self._generation = self._generation, None
        self.emit(
            GenerationEnd(
                at=_now(),
                generation=generation or "",
                status=status,
                stop_reason=stop_reason,
                usage=usage,
            )
        )

    def tool_start(self, generation: str, call: str, tool: str, parameters: dict[str, Any]) -> None:
        """A tool call begins."""
        self._calls[call] = None
        self.emit(
            ToolStart(at=_now(), generation=generation, call=call, tool=tool, parameters=parameters)
        )

    def tool_end(self, call: str, status: ToolStatus, result: str = "") -> None:
        """A tool call is over."""
        self._calls.pop(call, None)
        self.emit(ToolEnd(at=_now(), call=call, status=status, result=result[:RESULT_CHARS]))

    def end(self, ending: Ending) -> AgentEnd:
        """Close what is open, then end."""
        for call in tuple(self._calls):
            self.tool_end(call, "unresolved")
        if self._generation is not None:
            self.generation_end("interrupted")
        end = AgentEnd(
            at=_now(),
            turn=self.number,
            status=ending.status,
            output=self.output[-OUTPUT_CHARS:],
            generations=self.generations,
            crash_reason=ending.crash_reason,
            seconds=monotonic() - self._began,
        )
        self.emit(end)
        return end


async def answering(
    turn: Turn, timeout_seconds: float, work: Callable[[], Awaitable[Ending]]
) -> AgentEnd:
    """Do ``work`` within the time; emit and return the turn's one ``AgentEnd`` on every exit.

    ``work`` has been cancelled and has cleaned up when a timeout is reported. What it raises is a
    crash of the agent.
    """
    clock = asyncio.timeout(timeout_seconds)
    try:
        async with clock:
            ending = await work()
    except asyncio.CancelledError:
        turn.end(Ending("stopped"))
        raise
    except Exception as error:  # noqa: BLE001 - whatever an agent raises, its turn has one end
        if clock.expired():
            ending = Ending("timeout", f"no answer within {round(timeout_seconds, 1):g} s")
        else:
            ending = Ending("crashed", f"{type(error).__name__}: {error}")
    return turn.end(ending)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
