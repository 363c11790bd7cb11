"""What a run tells while it goes on, for whoever shows it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Protocol

from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.run_status import EvalRunStatus
from proctor.api.runfile import RunFile
from proctor.api.usage import Bill
from proctor.engine.model import TrialId
from proctor.engine.money import total_money


@dataclass(frozen=True, slots=True)
class Progress:
    """How a run stands, with what its running trials have used so far.

    Args:
        cost_usd: US dollars spent so far, as far as they are known; None: nothing is known.
        scripted_cost_usd: What scripted or replayed answers would have cost; None: there were none.
        tokens: Of all kinds, of all attempts so far.
        running: Trials that run now.
        calls: Model calls so far, as far as they are known.
        budget_usd: What the run may spend; None: no limit.
        models: Who answers: a value of ``spec.models.mode``.
    """

    status: EvalRunStatus
    cost_usd: Decimal | None = None
    scripted_cost_usd: Decimal | None = None
    tokens: int = 0
    running: Sequence[TrialId] = field(default=())
    calls: int = 0
    budget_usd: Decimal | None = None
    models: str = "Live"


class Reporter(Protocol):
    """Shows a run. All methods return at once; none of them raises."""

    def started(self, name: str, folder: Path, total: int, kept: int) -> None:
        """A run starts; ``kept`` of its trials have a verdict from an earlier time."""

    def trial_ended(self, trial: TrialId, status: EvalTrialStatus, progress: Progress) -> None:
        """A trial has ended."""

    def progressed(self, progress: Progress) -> None:
        """Something changed, or a moment passed."""

    def interrupted(self) -> None:
        """The user asked to stop; children are being ended."""

    def ended(self, file: RunFile, folder: Path) -> None:
        """The run is complete; ``file`` is its ``run.json``."""

    def failed(self, name: str, folder: Path, reason: str) -> None:
        """No trial of a run could be started; its folder can be resumed."""


def progress_of(
    status: EvalRunStatus, running: Sequence[TrialId], bills: Sequence[Bill | None]
) -> Progress:
    """Add what runs now to what has ended."""
    known = [bill for bill in bills if bill is not None]
    money = total_money(known)
    return Progress(
        status=status,
        cost_usd=_add(status.cost_usd, money.cost_usd),
        scripted_cost_usd=_add(status.scripted_cost_usd, money.scripted_cost_usd),
        tokens=(status.tokens.usage() + money.usage).total,
        calls=status.spending.model_calls if status.spending else money.calls,
        running=running,
    )


def _add(one: Decimal | None, other: Decimal | None) -> Decimal | None:
    known = [amount for amount in (one, other) if amount is not None]
    return sum(known, Decimal(0)) if known else None
