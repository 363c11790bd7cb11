"""What the results server has of a run's records (pure)."""

from collections.abc import Mapping
from dataclasses import dataclass

from proctor.api.evaltrial import EvalTrialStatus
from proctor.planning.model import TrialId

_NAMED = 20


@dataclass(frozen=True, slots=True)
class Storage:
    """Counts of a run's ended trials.

    Args:
        stored: With a record on the server.
        missing: Lines that name trials whose record was not taken, and why.
        without: Trials that left no record, because they were never graded.
    """

    stored: int
    missing: tuple[str, ...]
    without: int

    @property
    def is_used(self) -> bool:
        """Whether there is a results server, as far as the trials tell."""
        return bool(self.stored or self.missing)

    @property
    def message(self) -> str:
        """For people."""
        parts = [f"{self.stored} records are stored"]
        if self.missing:
            more = len(self.missing) - _NAMED
            named = "; ".join(self.missing[:_NAMED]) + (f"; and {more} more" if more > 0 else "")
            parts.append(f"{len(self.missing)} missing: {named}")
        if self.without:
            parts.append(f"{self.without} trials left none")
        return ", ".join(parts)


def storage_of(ended: Mapping[TrialId, EvalTrialStatus]) -> Storage:
    """Look at trials that have ended."""
    stored = sum(status.record_place is not None for status in ended.values())
    missing = tuple(
        f"{trial.task}/{trial.variant}/{trial.repeat} ({status.record_problem})"
        for trial, status in ended.items()
        if status.record_place is None and status.record_problem
    )
    without = sum(status.record_digest is None for status in ended.values())
    return Storage(stored, missing, without)
