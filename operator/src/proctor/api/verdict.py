"""What a criterion says. The agent failed: ``Scored(0.0)``. We failed: ``Unscored``.

Standard library only: every phase of a trial may import it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Scored:
    """It was checked.

    Args:
        score: In [0, 1]; 0.0 means checked and failed.
        explanation: For people, at most a few sentences; what was found and what was expected.
        measures: Named numbers beside the score, such as ``{"found": 2}``; empty when none.
    """

    score: float
    explanation: str = ""
    measures: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and 0.0 <= self.score <= 1.0):
            raise ValueError(f"score {self.score!r} is not in [0, 1]")


@dataclass(frozen=True, slots=True)
class Unscored:
    """It could not be checked: our fault. It has no score, and it is counted."""

    reason: str


Verdict = Scored | Unscored
