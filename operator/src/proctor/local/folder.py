"""The folder of a run: what is written while it goes on, and read back to resume it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from pydantic import ValidationError

from proctor import __version__
from proctor.api.errors import UserError
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.outcome import UNSCORED_OUTCOMES, FailureClass, Outcome
from proctor.api.run_status import EvalRunStatus
from proctor.api.runfile import RunFile, TrialFile, TrialLine
from proctor.api.usage import Bill
from proctor.engine.history import closed_attempt, history_lines
from proctor.engine.model import ClosedAttempt, DesiredTrial, TrialId
from proctor.local.files import remove_tree, write_json
from proctor.local.places import RunPlaces


class RunFolder:
    """Writes one run's files, each atomically."""

    def __init__(
        self,
        folder: Path,
        name: str,
        suite: str,
        uid: str,
        fingerprint: str,
        *,
        models: str = "Live",
    ) -> None:
        self.places = RunPlaces(folder)
        identity = {"name": name, "suite": suite, "uid": uid, "fingerprint": fingerprint}
        self._identity = {**identity, "models": models}

    @property
    def uid(self) -> str:
        """The run's random id."""
        return self._identity["uid"]

    def write_run(
        self,
        status: EvalRunStatus,
        desired: Sequence[DesiredTrial],
        ended: Mapping[TrialId, EvalTrialStatus],
    ) -> RunFile:
        """Write ``run.json``; what was written comes back."""
        file = RunFile(
            producer=f"proctor {__version__}",
            status=status,
            trials=tuple(self._line(trial, ended.get(trial.id)) for trial in desired),
            **self._identity,
        )
        write_json(self.places.run_file, file.model_dump(mode="json", by_alias=True))
        return file

    def write_trial(self, trial: TrialId, uid: str, status: EvalTrialStatus) -> None:
        """Write ``trial.json``."""
        file = TrialFile(
            run=self._identity["name"],
            task=trial.task,
            variant=trial.variant,
            repeat=trial.repeat,
            uid=uid,
            status=status,
        )
        path = self.places.trial(trial).trial_file
        write_json(path, file.model_dump(mode="json", by_alias=True))

    def write_history(self, trial: TrialId, uid: str, closed: Sequence[ClosedAttempt]) -> None:
        """Write ``trial.json`` of a trial that goes on with another attempt."""
        self.write_trial(trial, uid, EvalTrialStatus(attempts=history_lines(closed)))

    def clean(self, trial: TrialId, status: EvalTrialStatus, *, keep: bool) -> None:
        """Remove the work folder of a trial that passed: nobody has to look into it."""
        if status.outcome == Outcome.PASSED and not keep:
            remove_tree(self.places.trial(trial).work)

    def _line(self, trial: DesiredTrial, status: EvalTrialStatus | None) -> TrialLine:
        known = status or EvalTrialStatus(cost_complete=True)
        return TrialLine(
            task=trial.id.task,
            variant=trial.id.variant,
            repeat=trial.id.repeat,
            agent=trial.agent,
            model=trial.model,
            outcome=known.outcome,
            score=known.score,
            reason=known.reason,
            cost_usd=known.cost_usd,
            scripted_cost_usd=known.scripted_cost_usd,
            cost_complete=known.cost_complete,
            tokens=known.tokens,
            seconds=total_seconds(known),
            folder=str(self.places.trial(trial.id).folder.relative_to(self.places.folder)),
        )


def total_seconds(status: EvalTrialStatus) -> Decimal | None:
    """Wall time of all phases; None when none is known."""
    stages = (status.seconds.agent, status.seconds.checks, status.seconds.grade)
    known = [seconds for seconds in stages if seconds is not None]
    return sum(known, Decimal(0)) if known else None


def read_run(folder: Path) -> RunFile:
    """Read ``run.json``.

    Raises:
        UserError: When the folder is not one of a run, or of a newer Proctor.
    """
    path = RunPlaces(folder).run_file
    try:
        return RunFile.model_validate(json.loads(path.read_bytes()))
    except FileNotFoundError:
        raise UserError(f"{folder} is not the folder of a run: it has no run.json") from None
    except (OSError, ValueError, ValidationError) as error:
        raise UserError(f"{path} cannot be read: {error}") from None


def read_trial(places: RunPlaces, trial: TrialId) -> TrialFile | None:
    """Read a trial's file; None when it has none, or one that cannot be read."""
    path = places.trial(trial).trial_file
    try:
        file = TrialFile.model_validate(json.loads(path.read_bytes()))
    except (OSError, ValueError, ValidationError):
        return None
    same = (file.task, file.variant, file.repeat) == (trial.task, trial.variant, trial.repeat)
    return file if same else None


def has_verdict(status: EvalTrialStatus) -> bool:
    """Whether a trial has a score, so that resuming a run keeps it."""
    return status.outcome is not None and Outcome(status.outcome) not in UNSCORED_OUTCOMES


def history(status: EvalTrialStatus) -> tuple[ClosedAttempt, ...]:
    """Past attempts of a trial without a verdict: their cost stays counted, their retries do not.

    Whoever resumes a run has seen the failures and asks for new attempts.
    """
    return tuple(_without_class(closed_attempt(line)) for line in status.attempts)


def _without_class(closed: ClosedAttempt) -> ClosedAttempt:
    cost_nothing = closed.failure_class in (FailureClass.CAPACITY, FailureClass.CONFIG)
    bill = closed.bill or (Bill() if cost_nothing else None)
    return replace(closed, failure_class=None, bill=bill)
