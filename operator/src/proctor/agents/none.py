"""``none``: no agent. The workspace is graded as it was laid down. Standard library only."""

from proctor.agents.contract import Emit, Session, TurnLimits
from proctor.agents.turn import Ending, Turn, answering
from proctor.api.events import AgentEnd


class NoneAgent:
    """Does nothing, and says so in one turn without model calls."""

    def __init__(self) -> None:
        self._turns = 0

    async def start(self, session: Session) -> None:
        """Nothing to get ready."""

    async def turn(self, prompt: str, limits: TurnLimits, emit: Emit) -> AgentEnd:
        """Answer nothing."""
        self._turns += 1
        turn = Turn(self._turns, emit, generations=0)
        turn.start(prompt, None)
        return await answering(turn, limits.timeout_seconds, _nothing)

    async def stop(self) -> None:
        """Nothing runs."""


async def _nothing() -> Ending:
    return Ending()
