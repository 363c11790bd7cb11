"""When a call is made again that a provider failed, and how long it may take. Pure."""

from dataclasses import dataclass

TOO_FAST = frozenset({429, 529})
"""Statuses by which a provider says that it is asked too fast, or that it is overloaded."""


@dataclass(frozen=True, slots=True)
class Retries:
    """How often a call is made again.

    Args:
        attempts: Further attempts; 0: none.
        base_seconds: Wait before the first, doubled for each other one, when the provider does
            not say how long; up to a quarter is added by chance.
        longest_seconds: A provider that asks for a longer wait is not asked again.
    """

    attempts: int = 4
    base_seconds: float = 0.5
    longest_seconds: float = 60.0

    def wait_seconds(
        self, attempt: int, asked: float | None = None, chance: float = 0.0
    ) -> float | None:
        """How long to wait after the attempt with this number, from 0; None: give up.

        Args:
            attempt: Which one failed.
            asked: What the provider asks for; None: it does not say.
            chance: From 0 to 1: spreads calls that failed together.
        """
        if attempt >= self.attempts:
            return None
        if asked is None:
            seconds = self.base_seconds * float(2**attempt) * (1 + chance / 4)
            return min(seconds, self.longest_seconds)
        return asked if asked <= self.longest_seconds else None

    def after_answer(
        self, attempt: int, status: int, asked: float | None, chance: float = 0.0
    ) -> float | None:
        """The same after an answer; None as well for one that another attempt would not change."""
        if status not in (408, 429) and status < 500:
            return None
        return self.wait_seconds(attempt, asked, chance)


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long a provider may take.

    Args:
        first_byte_seconds: Until its answer begins.
        idle_seconds: Without another byte of it, and without the client taking one.
        total_seconds: Until it is over.
    """

    first_byte_seconds: float = 600.0
    idle_seconds: float = 300.0
    total_seconds: float = 3600.0
