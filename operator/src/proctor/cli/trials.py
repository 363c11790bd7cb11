"""Trials of a run in a cluster, from their EvalTrials and from the results server's list."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from proctor.api.errors import UserError
from proctor.api.stored import StoredRecord


@dataclass(frozen=True, slots=True)
class ClusterTrial:
    """A trial that somebody may look at.

    Args:
        name: Of its EvalTrial.
        pod: Of its last attempt.
        outcome: Empty: it has not ended, or its EvalTrial is gone.
        digest: Of its record on the results server; None: it has none there.
        problem: Why it has none.
    """

    name: str
    title: str
    pod: str
    outcome: str = ""
    digest: str | None = None
    problem: str = ""

    def is_meant(self, patterns: Sequence[str]) -> bool:
        """Whether a pattern fits its name or ``task/variant/repeat``; none at all mean all."""
        names = (self.name, self.title)
        return not patterns or any(
            fnmatchcase(name, pattern) or name.startswith(f"{pattern}/")
            for name in names
            for pattern in patterns
        )


def trials_of(
    bodies: Iterable[Mapping[str, Any]], stored: Iterable[StoredRecord]
) -> list[ClusterTrial]:
    """Trials that exist, then those of which only records are left."""
    records = {one.trial.name: one for one in stored}
    found = [_existing(body, records.pop(body["metadata"]["name"], None)) for body in bodies]
    return found + [_past(one) for one in records.values()]


def choose(trials: Sequence[ClusterTrial], patterns: Sequence[str], run: str) -> list[ClusterTrial]:
    """Trials that are meant.

    Raises:
        UserError: There is none.
    """
    chosen = [trial for trial in trials if trial.is_meant(patterns)]
    if chosen:
        return chosen
    if not trials:
        raise UserError(f"run {run} has no trials here, and the results server no records of it")
    known = ", ".join(trial.title for trial in trials[:10])
    raise UserError(f"no trial of {run} is called {', '.join(patterns)}; there are {known}")


def _existing(body: Mapping[str, Any], record: StoredRecord | None) -> ClusterTrial:
    spec, status = body["spec"], body.get("status") or {}
    name = body["metadata"]["name"]
    return ClusterTrial(
        name=name,
        title=_title(spec["task"], spec["variant"], spec["repeat"]),
        pod=f"{name}-{spec['attempt']}",
        outcome=str(status.get("outcome") or ""),
        digest=None if record is None else record.digest,
        problem=str(status.get("recordProblem") or ""),
    )


def _past(record: StoredRecord) -> ClusterTrial:
    trial = record.trial
    return ClusterTrial(
        name=trial.name,
        title=_title(trial.task, trial.variant, trial.repeat),
        pod=f"{trial.name}-{trial.attempt}",
        digest=record.digest,
    )


def _title(task: str, variant: str, repeat: int) -> str:
    return f"{task}/{variant}/{repeat}"
