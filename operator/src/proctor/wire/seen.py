"""What the objects of a stream said so far, whichever API it is. Pure, standard library only."""

from dataclasses import dataclass, field
from typing import Any

from proctor.wire.format import Figures, Reading


@dataclass(slots=True)
class Seen:
    """What each API's tally keeps.

    Args:
        told: Usage figures under the provider's names; a later one wins.
        stop_reason: In the provider's words.
        tools: Names of the tools that the model asked for, in order.
        characters: Of text, thoughts and arguments of tools.
    """

    told: dict[str, Any] = field(default_factory=dict)
    stop_reason: str | None = None
    tools: list[str] = field(default_factory=list)
    error: str | None = None
    tier: str | None = None
    characters: int = 0

    def read(self, figures: Figures, *, is_over: bool) -> Reading:
        """Its reading; ``figures`` are what was told, final when the answer is over."""
        return Reading(
            usage=figures.usage,
            details=figures.details,
            complete=figures.complete and is_over and not self.error,
            stop_reason=self.stop_reason,
            tools=tuple(self.tools),
            error=self.error,
            characters=self.characters,
            tier=self.tier,
        )
