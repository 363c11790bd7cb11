from decimal import Decimal

import pytest

from proctor.api.base import RatioText, Status
from proctor.api.ratio import cut, exact, ratio_text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param("0", "0", id="zero"),
        pytest.param("1.0", "1", id="one"),
        pytest.param("0.8750", "0.875", id="no-trailing-zeros"),
        pytest.param("0.9999999", "0.999999", id="nearly-all-is-not-all"),
        pytest.param("0.66666666", "0.666666", id="two-thirds"),
        pytest.param("1E-7", "0", id="no-exponent"),
    ],
)
def test_a_ratio_is_written_with_six_digits_and_never_rounded_up(value: str, text: str) -> None:
    assert ratio_text(Decimal(value)) == text


def test_statuses_and_records_write_it_so() -> None:
    class Kept(Status):
        score: RatioText

    assert Kept(score=Decimal(2) / 3).model_dump(mode="json") == {"score": "0.666666"}


def test_what_floats_are_off_by_costs_no_digit() -> None:
    """The mean of 0.7, 0.8 and 0.9, or a sum of tenths, is a little less or more than it says."""
    assert cut(exact(0.7999999999999999)) == Decimal("0.8")
    assert exact(0.1 + 0.2) == Decimal("0.3")
