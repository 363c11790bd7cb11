"""What the ledger says of a call that somebody wants to make."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Refusal:
    """A call that may not be made, now or later.

    Args:
        limit: The limit that forbids it, ``budget`` for the run's; None: another reason.
    """

    limit: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Busy:
    """Calls in flight hold what is left of a limit: it shows when one of them is settled."""


Limit = Refusal | Busy | None
"""None: nothing stands against the call."""
