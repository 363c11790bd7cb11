from decimal import Decimal

import pytest

from builders import (
    NOON,
    a_bill,
    a_desired,
    a_failure,
    a_passed_status,
    a_trial_id,
    a_verdict,
    an_attempt,
    an_ended_attempt,
    an_observed,
    seconds,
)
from proctor.api.conditions import ConditionType, Reason
from proctor.api.errors import Problem
from proctor.api.evalrun import Gate
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.outcome import FailureClass, Outcome
from proctor.engine.decide import decide
from proctor.engine.model import AttemptPhase, ClosedAttempt, TrialId, Waiting
from proctor.engine.status import awaiting_status, rejected_status, remaining_status, run_status


def status_of(observed, previous=None):
    return run_status(observed, decide(observed), generation=3, previous=previous, seed="s")


def condition(status, kind):
    return next((c for c in status.conditions if c.type == kind), None)


def failed_status(**changes):
    return EvalTrialStatus(
        **{"outcome": "Failed", "score": Decimal("0.5"), "reason": "why", **changes}
    )


def test_counts_add_up_to_the_total():
    recorded = {
        a_trial_id(0): a_passed_status(),
        a_trial_id(1): failed_status(),
        a_trial_id(2): EvalTrialStatus(outcome="InfraFailed"),
        a_trial_id(3): EvalTrialStatus(outcome="Cancelled"),
    }
    counts = status_of(an_observed(6, recorded=recorded, attempts=[an_attempt(4)])).trials
    assert counts.model_dump() == {
        "total": 6,
        "pending": 1,
        "running": 1,
        "passed": 1,
        "failed": 1,
        "errored": 1,
        "cancelled": 1,
    }


def test_unscored_trials_leave_the_score_and_show_in_the_completion_ratio():
    recorded = {
        a_trial_id(0): a_passed_status(),
        a_trial_id(1): EvalTrialStatus(outcome="GraderError"),
    }
    status = status_of(an_observed(2, recorded=recorded))
    assert (status.score, status.pass_ratio) == (Decimal(1), Decimal(1))
    assert status.completion_ratio == Decimal("0.5")


def test_ratios_are_the_same_when_they_are_read_back():
    """Else each pass would write the status again."""
    recorded = {
        a_trial_id(0): a_passed_status(),
        **{a_trial_id(n): failed_status() for n in (1, 2)},
    }
    status = status_of(an_observed(3, recorded=recorded))
    assert status.pass_ratio == Decimal("0.333333")
    assert status.model_validate_json(status.model_dump_json()) == status


def test_before_anything_ended_everything_measured_is_null():
    status = status_of(an_observed(2))
    assert (status.score, status.pass_ratio, status.cost_usd) == (None, None, None)


@pytest.mark.parametrize("mode", ["Scripted", "Replay"])
def test_scripted_and_replayed_money_is_shown_and_never_counted_as_spent(mode):
    verdict = a_verdict(bill=a_bill(mode=mode))
    status = status_of(an_observed(1, attempts=[an_ended_attempt(0, verdict=verdict)]))
    assert status.cost_usd == 0
    assert status.scripted_cost_usd == Decimal("0.01")
    assert status.cost_complete


def test_recorded_money_is_spent():
    verdict = a_verdict(bill=a_bill(mode="Record"))
    status = status_of(an_observed(1, attempts=[an_ended_attempt(0, verdict=verdict)]))
    assert (status.cost_usd, status.scripted_cost_usd) == (Decimal("0.01"), None)


def test_a_model_without_a_price_makes_the_cost_unknown():
    verdict = a_verdict(bill=a_bill(cost_usd=None, cost_complete=False))
    status = status_of(an_observed(1, attempts=[an_ended_attempt(0, verdict=verdict)]))
    assert status.cost_usd is None
    assert not status.cost_complete


def test_lost_attempts_are_added_to_the_cost_of_their_trial():
    lost = ClosedAttempt(1, "pod", FailureClass.INFRA, "Evicted", "", a_bill())
    observed = an_observed(
        1, attempts=[an_ended_attempt(0, number=2)], closed={a_trial_id(0): [lost]}
    )
    status = status_of(observed)
    assert status.cost_usd == Decimal("0.02")
    assert status.tokens.input == 200


def test_variants_are_compared_side_by_side():
    desired = [
        a_desired(0, id=TrialId("t", "base", 0)),
        a_desired(0, id=TrialId("t", "skill", 0), model="model-2"),
    ]
    recorded = {desired[0].id: failed_status(), desired[1].id: a_passed_status()}
    status = status_of(an_observed(desired=desired, recorded=recorded))
    figures = [(v.name, v.score, v.pass_ratio, v.model) for v in status.variants]
    assert figures == [
        ("base", Decimal("0.5"), Decimal(0), "model-1"),
        ("skill", Decimal(1), Decimal(1), "model-2"),
    ]
    assert status.agent == "mini"


def test_agents_that_differ_are_called_mixed():
    desired = [a_desired(0), a_desired(1, agent="none")]
    assert status_of(an_observed(desired=desired)).agent == "mixed"


def test_failing_trials_are_named_with_their_reason_and_bounded():
    recorded = {a_trial_id(number): failed_status() for number in range(30)}
    status = status_of(an_observed(30, recorded=recorded))
    assert len(status.failing) == 20
    assert (status.failing[0].task, status.failing[0].reason) == ("task-0", "why")


@pytest.mark.parametrize(
    ("gate", "passed", "reason"),
    [
        pytest.param(Gate(min_pass_ratio=0.5), True, Reason.GATE_MET, id="met"),
        pytest.param(Gate(min_score=0.9), False, Reason.PASS_THRESHOLD_MISSED, id="score-missed"),
        pytest.param(
            Gate(min_pass_ratio=0.9), False, Reason.PASS_THRESHOLD_MISSED, id="ratio-missed"
        ),
    ],
)
def test_the_gate_is_a_condition_of_its_own(gate, passed, reason):
    recorded = {a_trial_id(0): a_passed_status(), a_trial_id(1): failed_status()}
    status = status_of(an_observed(2, recorded=recorded, gate=gate))
    assert status.gate == ("Passed" if passed else "Failed")
    assert condition(status, ConditionType.GATE_PASSED).reason == reason
    assert condition(status, ConditionType.COMPLETE).status == "True"


def test_a_gate_needs_every_trial_scored_unless_it_says_less():
    recorded = {
        a_trial_id(0): a_passed_status(),
        a_trial_id(1): EvalTrialStatus(outcome="GraderError"),
    }
    strict = status_of(an_observed(2, recorded=recorded, gate=Gate(min_score=0.5)))
    lenient = Gate(min_score=0.5, min_completion_ratio=0.5)
    assert condition(strict, ConditionType.GATE_PASSED).reason == Reason.COMPLETION_MISSED
    assert status_of(an_observed(2, recorded=recorded, gate=lenient)).gate == "Passed"


def test_a_score_that_was_not_measured_misses_its_threshold():
    recorded = {a_trial_id(0): EvalTrialStatus(outcome="GraderError")}
    gate = Gate(min_score=0.5, min_completion_ratio=0)
    status = status_of(an_observed(1, recorded=recorded, gate=gate))
    assert "not measured" in condition(status, ConditionType.GATE_PASSED).message


def test_an_unfinished_run_has_no_gate_yet():
    status = status_of(an_observed(1, gate=Gate(min_score=0.5)))
    assert status.gate is None
    assert condition(status, ConditionType.GATE_PASSED) is None


@pytest.mark.parametrize(
    ("changes", "state", "reason"),
    [
        pytest.param({}, "Pending", Reason.TRIALS_PENDING, id="nothing-runs-yet"),
        pytest.param({"attempts": [an_attempt(0)]}, "Running", Reason.TRIALS_RUNNING, id="runs"),
        pytest.param({"suspend": True}, "Suspended", Reason.SUSPENDED, id="suspended"),
        pytest.param({"cancelled": True}, "Cancelled", Reason.CANCELLED, id="cancelled"),
        pytest.param(
            {"attempts": [an_ended_attempt(0)]}, "Complete", Reason.ALL_TRIALS_FINISHED, id="done"
        ),
        pytest.param(
            {
                "attempts": [
                    an_attempt(
                        0,
                        phase=AttemptPhase.WAITING,
                        waiting=Waiting(Reason.UNSCHEDULABLE, "no node fits", NOON),
                    )
                ]
            },
            "Pending",
            Reason.UNSCHEDULABLE,
            id="waiting-says-why",
        ),
    ],
)
def test_progressing_says_what_goes_on(changes, state, reason):
    status = status_of(an_observed(1, **changes))
    assert status.state == state
    assert condition(status, ConditionType.PROGRESSING).reason == reason
    assert condition(status, ConditionType.PROGRESSING).observed_generation == 3


def test_a_condition_keeps_its_time_while_its_status_stays():
    first = status_of(an_observed(2))
    later = status_of(an_observed(2, attempts=[an_attempt(0)], now=NOON + seconds(50)), first)
    accepted = condition(later, ConditionType.ACCEPTED)
    assert accepted.last_transition_time == "2026-01-31T12:00:10Z"
    done = an_observed(1, attempts=[an_ended_attempt(0)], now=NOON + seconds(60))
    complete = condition(status_of(done, later), ConditionType.COMPLETE)
    assert complete.last_transition_time == "2026-01-31T12:01:00Z"


def test_the_completion_time_is_set_once():
    done = an_observed(1, recorded={a_trial_id(0): a_passed_status()})
    first = status_of(done)
    again = status_of(an_observed(1, recorded=done.recorded, now=NOON + seconds(99)), first)
    assert first.completion_time == again.completion_time == "2026-01-31T12:00:10Z"


def test_a_rejected_run_is_complete_and_names_every_problem():
    problems = [Problem("spec.a", "bad", "do this"), Problem("spec.b", "worse")]
    status = rejected_status(problems, generation=1, now=NOON)
    accepted = condition(status, ConditionType.ACCEPTED)
    assert (accepted.status, accepted.reason) == ("False", Reason.SPEC_INVALID)
    assert accepted.message == "spec.a: bad (do this)\nspec.b: worse"
    assert condition(status, ConditionType.COMPLETE).reason == Reason.REJECTED


def test_trials_that_are_known_by_number_only_count_and_end_with_the_run():
    variant = a_trial_id(0).variant
    known = {"recorded": {a_trial_id(0): a_passed_status()}, "rest": {variant: 3}}
    going = status_of(an_observed(1, **known))
    assert condition(going, ConditionType.COMPLETE).reason == Reason.IN_PROGRESS
    assert (going.trials.total, going.trials.passed, going.trials.pending) == (4, 1, 3)
    ended = status_of(an_observed(1, cancelled=True, **known))
    assert (ended.trials.total, ended.trials.passed, ended.trials.cancelled) == (4, 1, 3)
    assert (ended.completion_ratio, ended.variants[0].total) == (Decimal("0.25"), 4)


def test_a_refused_run_ends_whatever_else_would_end_it():
    status = status_of(an_observed(2, refused=True, cancelled=True, gate=Gate(min_pass_ratio=1)))
    assert condition(status, ConditionType.COMPLETE).reason == Reason.REJECTED
    assert status.trials.cancelled == 2
    assert status.gate is None


def test_without_its_plan_a_run_keeps_what_the_plan_told():
    told = status_of(an_observed(2, recorded={a_trial_id(0): a_passed_status()}))
    told = told.model_copy(update={"user": "mixed", "agent": "mixed"})
    known = an_observed(1, recorded={a_trial_id(0): a_passed_status()}, rest={"default": 1})
    status = remaining_status(known, decide(known), generation=1, previous=told)
    assert (status.user, status.agent) == ("mixed", "mixed")
    assert status.variants == told.variants


def test_what_was_found_out_of_a_run_stays_while_it_waits():
    used_up = an_observed(1, recorded={a_trial_id(0): a_passed_status()}, budget_usd=Decimal(0))
    before = status_of(used_up)
    assert condition(before, ConditionType.BUDGET_EXCEEDED).status == "True"
    status = awaiting_status("away", generation=1, now=NOON, previous=before)
    assert condition(status, ConditionType.BUDGET_EXCEEDED).status == "True"
    assert condition(status, ConditionType.ACCEPTED).status == "Unknown"


def test_an_overlong_message_is_cut_and_says_so():
    problems = [Problem(f"spec.tasks[{number}]", "bad" * 50) for number in range(100)]
    message = rejected_status(problems, generation=1, now=NOON).conditions[0].message
    assert len(message) == 8000
    assert message.endswith("…")


def test_a_trial_that_never_ran_cost_nothing():
    failure = a_failure(FailureClass.CONFIG, reason="ImagePullFailed")
    (record,) = decide(an_observed(1, attempts=[an_ended_attempt(0, failure=failure)])).record
    assert record.status.cost_usd == 0
    assert record.status.cost_complete


def test_a_wait_that_nobody_saw_end_has_no_length():
    attempt = an_ended_attempt(0, started_at=None)
    (record,) = decide(an_observed(1, attempts=[attempt])).record
    assert record.status.seconds.queue is None


def test_a_verdict_brings_its_times_turns_and_digest():
    (record,) = decide(an_observed(1, attempts=[an_ended_attempt(0)])).record
    by_stage = record.status.seconds.model_dump()
    assert by_stage == {
        "queue": "2",
        "agent": "1.5",
        "checks": None,
        "grade": "0.3",
    }
    assert record.status.record_digest == "sha256:" + "ab" * 32
    assert record.status.turns == 2
    assert record.status.outcome == Outcome.PASSED
