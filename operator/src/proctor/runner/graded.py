"""All that grading one attempt came to, before it is written down."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from proctor.api.orders import GradeOrders
from proctor.api.redaction import Redactor
from proctor.api.report import AgentReport
from proctor.api.verdict import Scored, Unscored, Verdict
from proctor.runner.ledger import Ledger
from proctor.runner.redacting import redacted_report
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


def redacted(graded: Graded, redactor: Redactor) -> Graded:
    """The same without secrets in any text that evidence, a criterion or a provider had a hand in.

    Scores, names and numbers stay as they are.
    """
    bill = graded.ledger.bill
    error = bill.provider_error
    said = replace(bill, provider_error=None if error is None else redactor.text(error))
    return replace(
        graded,
        report=redacted_report(graded.report, redactor),
        ledger=replace(graded.ledger, bill=said),
        results=tuple(
            replace(result, verdict=_redacted_verdict(result.verdict, redactor))
            for result in graded.results
        ),
        score=replace(graded.score, reason=redactor.text(graded.score.reason)),
        absent={redactor.text(path): redactor.text(why) for path, why in graded.absent.items()},
    )


def _redacted_verdict(verdict: Verdict, redactor: Redactor) -> Verdict:
    if isinstance(verdict, Scored):
        return replace(verdict, explanation=redactor.text(verdict.explanation))
    return Unscored(redactor.text(verdict.reason))
