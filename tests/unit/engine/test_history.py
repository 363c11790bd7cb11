from decimal import Decimal

import pytest

from builders import NOON, a_bill, a_trial_id, an_observed
from proctor.api.conditions import Reason
from proctor.api.evaltrial import MAX_ATTEMPTS
from proctor.api.outcome import FailureClass
from proctor.engine.decide import decide
from proctor.engine.history import closed_attempt, history_lines
from proctor.engine.model import ClosedAttempt
from proctor.engine.money import total_money
from proctor.engine.trial_status import cancelled_status


def stopped(number, bill):
    return ClosedAttempt(number, f"pod-{number}", None, "Interrupted", "stopped", bill)


def lost(number):
    return ClosedAttempt(number, f"pod-{number}", FailureClass.INFRA, "Evicted", "m", a_bill())


@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(
            ClosedAttempt(1, "p", FailureClass.INFRA, "Evicted", "m", a_bill()), id="bill"
        ),
        pytest.param(ClosedAttempt(2, "p", None, "Interrupted", "m", None), id="no-bill"),
        pytest.param(
            ClosedAttempt(3, "p", None, "Graded", "", a_bill(mode="Scripted")), id="scripted"
        ),
        pytest.param(
            ClosedAttempt(4, "p", None, "Graded", "", a_bill(mode="Replay")), id="replayed"
        ),
    ],
)
def test_a_line_of_history_survives_the_status(attempt):
    (line,) = history_lines([attempt])
    assert closed_attempt(line) == attempt


@pytest.mark.parametrize(
    ("failure_class", "complete"),
    [
        pytest.param(FailureClass.INFRA, False, id="may-have-spent"),
        pytest.param(FailureClass.CONFIG, True, id="never-ran"),
    ],
)
def test_a_line_without_a_bill_says_whether_money_may_have_been_spent(failure_class, complete):
    (line,) = history_lines([ClosedAttempt(1, "p", failure_class, "Reason", "m", None)])
    assert (line.cost_usd, line.cost_complete) == (None, complete)


@pytest.mark.parametrize(
    ("bill", "cost", "complete"),
    [
        pytest.param(a_bill(cost_usd=Decimal("0.5")), Decimal("15"), True, id="known"),
        pytest.param(None, None, False, id="unknown"),
    ],
)
def test_a_trial_that_is_stopped_without_end_keeps_its_money_and_fits_its_status(
    bill, cost, complete
):
    # A 25th attempt was refused by the API server for ever: the run hung, and said nothing.
    history = []
    for number in range(1, 31):
        lines = history_lines([*history, stopped(number, bill)])
        assert len(lines) <= MAX_ATTEMPTS
        history = [closed_attempt(line) for line in lines]
    money = total_money([one.bill for one in history])
    assert (money.cost_usd, money.complete) == (cost, complete)
    assert history[-1].number == 30


def test_scripted_money_of_folded_attempts_stays_scripted():
    bill = a_bill(mode="Scripted", cost_usd=Decimal("0.5"))
    lines = history_lines([stopped(number, bill) for number in range(1, 31)])
    money = total_money([closed_attempt(line).bill for line in lines])
    assert (money.cost_usd, money.scripted_cost_usd) == (Decimal(0), Decimal(15))


def test_an_unknown_bill_makes_the_money_of_folded_attempts_a_floor():
    lines = history_lines([stopped(1, None), *(stopped(n, a_bill()) for n in range(2, 26))])
    assert (lines[0].cost_usd, lines[0].cost_complete) == (Decimal("0.01"), False)


def test_retries_that_were_used_up_are_never_folded():
    history = [
        stopped(1, a_bill()),
        *map(lost, range(2, 22)),
        *(stopped(n, None) for n in (22, 23)),
    ]
    lines = history_lines([*history, stopped(24, None), stopped(25, None)])
    assert sum(line.failure_class is not None for line in lines) == 20


def test_more_retries_than_any_policy_allows_still_fit():
    assert len(history_lines([lost(number) for number in range(1, 31)])) == MAX_ATTEMPTS


def test_a_cancelled_trial_with_a_long_history_fits_its_status():
    status = cancelled_status(Reason.CANCELLED, NOON, [stopped(n, a_bill()) for n in range(1, 41)])
    assert (len(status.attempts), status.cost_usd) == (MAX_ATTEMPTS, Decimal("0.40"))


def test_the_attempt_after_a_folded_history_has_the_next_number():
    lines = history_lines([stopped(number, None) for number in range(1, 31)])
    closed = {a_trial_id(0): [closed_attempt(line) for line in lines]}
    (start,) = decide(an_observed(1, closed=closed)).start
    assert start.number == 31
