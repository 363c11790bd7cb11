"""All that grading one attempt came to, before it is written down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from proctor.api.orders import GradeOrders
from proctor.api.report import AgentReport
from proctor.runner.ledger import Ledger
from proctor.scoring.trial import CriterionResult, TrialScore


@dataclass(frozen=True, slots=True)
class Graded:
    """One graded attempt.

    Args:
        results: In the order of the criteria.
        absent: Files that were looked for and are no data, and why.
        checks_seconds: Wall time of ``checks``, as it claims; None: it did not run or left nothing.
        grade_seconds: Wall time up to the outcome.
    """

    orders: GradeOrders
    report: AgentReport
    ledger: Ledger
    results: Sequence[CriterionResult]
    score: TrialScore
    absent: Mapping[str, str]
    checks_seconds: float | None
    grade_seconds: float
