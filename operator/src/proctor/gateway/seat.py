"""Who makes a call, as a cassette knows it."""

from dataclasses import dataclass
from typing import Literal

Role = Literal["agent", "judge"]


@dataclass(frozen=True, slots=True)
class Seat:
    """The agent or the judge of one attempt.

    Args:
        trial: ``task/variant/repeat``, the same in each run of a spec; empty: not known.
        trial_uid: Of this run alone.
    """

    trial: str
    trial_uid: str
    attempt: int
    role: Role
