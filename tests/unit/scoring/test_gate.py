from decimal import Decimal

import pytest

from proctor.api.evalrun import Gate
from proctor.api.outcome import Outcome
from proctor.api.usage import Usage
from proctor.scoring.gate import gate_verdict
from proctor.scoring.run import Aggregate, TrialSummary, aggregate


def reached(passed: int, total: int) -> Aggregate:
    """Trials of which so many passed with 1; the others have 0."""
    trials = [
        TrialSummary(Outcome.PASSED, Decimal(1), Decimal(0), None, True, Usage()),
        TrialSummary(Outcome.FAILED, Decimal(0), Decimal(0), None, True, Usage()),
    ]
    return aggregate([trials[number >= passed] for number in range(total)], total)


@pytest.mark.parametrize(
    ("least", "holds"),
    [
        pytest.param(0.66, True, id="below"),
        pytest.param(0.66666666, True, id="more-digits-than-are-kept"),
        pytest.param(0.666667, False, id="rounded-up"),
        pytest.param(0.67, False, id="above"),
    ],
)
def test_a_threshold_is_held_against_what_was_reached_and_not_its_text(
    least: float, holds: bool
) -> None:
    assert gate_verdict(Gate(min_pass_ratio=least), reached(2, 3)).passed is holds


def test_a_narrow_miss_never_reads_like_a_hit() -> None:
    """0.79998 was once told as "score is 0.8000, at least 0.8 is asked for"."""
    verdict = gate_verdict(Gate(min_score=0.8), reached(39_999, 50_000))
    assert verdict.message == "score is 0.79998, at least 0.8 is asked for"
