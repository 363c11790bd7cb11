from decimal import Decimal

import pytest

from builders import (
    a_bill,
    a_failure,
    a_passed_status,
    a_trial_id,
    a_verdict,
    an_attempt,
    an_ended_attempt,
    an_observed,
)
from proctor.api.conditions import Reason
from proctor.api.evaltrial import AttemptStatus, EvalTrialStatus
from proctor.api.outcome import FailureClass, Outcome
from proctor.api.run_status import EvalRunStatus
from proctor.api.usage import RUN_BUDGET, RunSpending, Usage
from proctor.engine.decide import decide
from proctor.engine.model import ClosedAttempt
from proctor.engine.status import run_status

FIVE = Decimal(5)


def an_expensive_run(trials=3, **changes):
    return an_observed(trials, **{"budget_usd": FIVE, **changes})


def spent(usd, **fields):
    return RunSpending(cost_usd=Decimal(usd), **fields)


def outcomes(decision):
    return {record.trial.task: record.status.outcome for record in decision.record}


def status_of(observed, previous=None):
    return run_status(observed, decide(observed), generation=1, previous=previous)


def condition(status, kind):
    return next((one for one in status.conditions if one.type == kind), None)


def test_below_the_budget_trials_start():
    decision = decide(an_expensive_run(spending=spent("4.99")))
    assert len(decision.start) == 3


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"spending": spent(5)}, id="as-the-gateway-says"),
        pytest.param(
            {"recorded": {a_trial_id(0): a_passed_status(cost_usd=FIVE)}}, id="as-the-records-say"
        ),
        pytest.param(
            {"attempts": [an_ended_attempt(0, verdict=a_verdict(bill=a_bill(cost_usd=FIVE)))]},
            id="as-a-verdict-says",
        ),
        pytest.param(
            {"recorded": {a_trial_id(0): EvalTrialStatus(outcome="Failed", refused=RUN_BUDGET)}},
            id="an-agent-was-refused",
        ),
    ],
)
def test_a_used_up_budget_starts_nothing_more_and_says_why(changes):
    decision = decide(an_expensive_run(**changes))
    last = next(record for record in decision.record if record.trial == a_trial_id(2))
    assert (last.status.outcome, last.status.score) == (Outcome.CANCELLED, None)
    assert last.status.reason == (
        "BudgetExceeded: not started, the run's budget (spec.budget.usd) is used up"
    )
    assert not decision.start
    assert decision.complete is Reason.ALL_TRIALS_FINISHED


def test_trials_that_run_are_left_to_the_gateway():
    decision = decide(an_expensive_run(attempts=[an_attempt(0)], spending=spent(6)))
    assert outcomes(decision) == {"task-1": "Cancelled", "task-2": "Cancelled"}
    assert not decision.stop
    assert decision.complete is None


def test_a_lost_attempt_is_part_of_the_spending_and_stays_in_the_history():
    lost = an_ended_attempt(0, failure=a_failure(), bill=a_bill(cost_usd=FIVE))
    decision = decide(an_expensive_run(1, attempts=[lost]))
    (record,) = decision.record
    assert (record.status.outcome, record.status.cost_usd) == (Outcome.CANCELLED, FIVE)
    assert [attempt.reason for attempt in record.status.attempts] == ["Evicted"]
    assert not decision.close


def test_attempts_in_the_history_count_once():
    closed = ClosedAttempt(1, "pod", FailureClass.INFRA, "Evicted", "", a_bill(cost_usd=Decimal(3)))
    again = an_ended_attempt(0, number=1, failure=a_failure(), bill=a_bill(cost_usd=Decimal(3)))
    observed = an_expensive_run(1, closed={a_trial_id(0): [closed]}, attempts=[again])
    assert decide(observed).start


def test_scripted_money_is_never_spent():
    scripted = a_bill(cost_usd=Decimal(9), mode="Scripted")
    failed = an_ended_attempt(0, failure=a_failure(), bill=scripted)
    assert decide(an_expensive_run(attempts=[failed])).start


def test_without_a_budget_no_amount_stops_a_run():
    assert decide(an_observed(1, spending=spent(1_000_000))).start


def test_the_condition_is_absent_until_the_budget_is_used_up_and_stays_then():
    assert condition(status_of(an_expensive_run(spending=spent(1))), "BudgetExceeded") is None
    first = status_of(an_expensive_run(spending=spent("5.5")))
    found = condition(first, "BudgetExceeded")
    assert (found.status, found.reason) == ("True", "BudgetUsedUp")
    assert found.message == "5.5 of 5 US dollars are spent"
    later = an_expensive_run(spending=spent(1), budget_was_used_up=True)
    assert condition(status_of(later, previous=first), "BudgetExceeded").message == found.message
    assert not decide(later).start


def test_what_is_spent_so_far_is_shown_while_the_run_goes_on():
    so_far = spent(2, calls=7, usage=Usage(30, 4))
    running = status_of(an_expensive_run(attempts=[an_attempt(0)], spending=so_far))
    assert (running.spending.cost_usd, running.spending.model_calls) == (2, 7)
    assert running.spending.tokens.input == 30
    unheard = status_of(an_expensive_run(attempts=[an_attempt(0)]), previous=running)
    assert unheard.spending == running.spending, "no answer is no news"
    recorded = {a_trial_id(n): a_passed_status() for n in range(3)}
    done = status_of(an_expensive_run(recorded=recorded, spending=so_far), previous=running)
    assert done.spending is None


def test_a_provider_that_failed_is_named_with_what_it_answered():
    said = "provider 'anthropic' answered 529: overloaded_error: busy"
    verdict = a_verdict(
        outcome=Outcome.INFRA_FAILED,
        score=None,
        scores=(None,),
        passed=(False,),
        reason=said,
        failure_class=FailureClass.PROVIDER,
    )
    observed = an_observed(2, attempts=[an_ended_attempt(0, verdict=verdict), an_attempt(1)])
    (record,) = decide(observed).record
    (attempt,) = record.status.attempts
    assert (attempt.failure_class, attempt.reason, attempt.message) == (
        "provider",
        "ProviderFailed",
        said,
    )
    progressing = condition(status_of(observed), "Progressing")
    assert progressing.message == (
        f"1 trial failed at a provider of models, the last one with: {said}"
    )


def test_the_last_answer_of_a_provider_is_told_when_the_run_is_over():
    def failed(second, said):
        line = AttemptStatus(number=1, failure_class="provider", message=said)
        at = f"2026-01-31T12:00:0{second}Z"
        return EvalTrialStatus(outcome="InfraFailed", attempts=(line,), completion_time=at)

    recorded = {a_trial_id(0): failed(2, "later"), a_trial_id(1): failed(1, "earlier")}
    status = status_of(an_observed(2, recorded=recorded), previous=EvalRunStatus())
    assert condition(status, "Progressing").message == (
        "2 trials failed at a provider of models, the last one with: later"
    )
