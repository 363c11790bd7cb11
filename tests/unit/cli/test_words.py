from decimal import Decimal

import pytest

from proctor.cli.words import UNKNOWN, count, duration, money, ratio, trial_name


@pytest.mark.parametrize(
    ("cost", "scripted", "complete", "text"),
    [
        pytest.param(None, None, False, "–", id="unknown-is-not-zero"),
        pytest.param("0", None, True, "$0.0000", id="zero-was-measured"),
        pytest.param("0.01234", None, True, "$0.0123", id="small"),
        pytest.param("0.00001", None, True, "<$0.0001", id="tiny-is-not-zero"),
        pytest.param("12.345", None, True, "$12.34", id="large"),
        pytest.param("0.5", None, False, "≥ $0.5000", id="a-floor"),
        pytest.param("0", "0.25", True, "$0.2500 scripted", id="scripted-is-marked"),
        pytest.param("0.5", "0.25", True, "$0.5000 + $0.2500 scripted", id="both"),
    ],
)
def test_money_says_what_it_is(cost, scripted, complete, text):
    amounts = [None if amount is None else Decimal(amount) for amount in (cost, scripted)]
    assert money(*amounts, complete=complete) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(None, UNKNOWN, id="unknown"),
        pytest.param("0", "0.000", id="zero"),
        pytest.param("0.875", "0.875", id="eighths-are-whole"),
        pytest.param("0.8999", "0.899", id="never-rounds-up-to-a-pass"),
        pytest.param("1", "1.000", id="one"),
    ],
)
def test_a_ratio_is_cut_off_behind_three_digits(value, text):
    assert ratio(None if value is None else Decimal(value)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        pytest.param(None, UNKNOWN, id="unknown"),
        pytest.param("1.25", "1.2s", id="seconds"),
        pytest.param("125", "2m05s", id="minutes"),
        pytest.param("3725", "1h02m", id="hours"),
    ],
)
def test_duration_has_the_unit_that_fits(seconds, text):
    assert duration(None if seconds is None else Decimal(seconds)) == text


def test_count_sets_off_thousands():
    assert count(1234567) == "1,234,567"


def test_repeat_is_named_where_there_are_several():
    assert (trial_name("a", "b"), trial_name("a", "b", 2)) == ("a · b", "a · b · 2")


def test_replayed_money_has_its_own_word():
    assert money(Decimal(0), Decimal("0.25"), models="Replay") == "$0.2500 replayed"
