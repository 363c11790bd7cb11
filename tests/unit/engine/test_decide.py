import pytest

from builders import (
    NOON,
    a_desired,
    a_failure,
    a_passed_status,
    a_trial_id,
    an_attempt,
    an_ended_attempt,
    an_observed,
    seconds,
)
from proctor.api.conditions import Reason
from proctor.api.evalrun import FailurePolicy
from proctor.api.outcome import FailureClass
from proctor.engine.decide import STUCK_RETRY, decide
from proctor.engine.model import AttemptPhase, ClosedAttempt, Start, Stop, Waiting
from proctor.engine.trial import FATAL_GRACE


def started(decision):
    return [(start.trial.task, start.number) for start in decision.start]


def closed(number=1, failure_class=FailureClass.INFRA):
    return ClosedAttempt(number, f"pod-{number}", failure_class, "Evicted", "")


def waiting(**changes):
    fields = {"reason": Reason.UNSCHEDULABLE, "message": "no node fits", "since": NOON}
    return Waiting(**{**fields, **changes})


@pytest.mark.parametrize(
    ("attempts", "expected"),
    [
        pytest.param([], [("task-0", 1), ("task-1", 1)], id="empty-fills-parallelism"),
        pytest.param([an_attempt(0)], [("task-1", 1)], id="one-slot-left"),
        pytest.param([an_attempt(0), an_attempt(1)], [], id="full-waits"),
        pytest.param(
            [an_ended_attempt(0), an_attempt(1)], [("task-2", 1)], id="an-ended-one-frees-its-slot"
        ),
    ],
)
def test_free_slots_are_filled_in_the_desired_order(attempts, expected):
    decision = decide(an_observed(4, attempts=attempts, parallelism=2))
    assert started(decision) == expected


def test_a_verdict_is_recorded_once_and_completes_the_run():
    decision = decide(an_observed(1, attempts=[an_ended_attempt(0)]))
    assert [record.status.outcome for record in decision.record] == ["Passed"]
    assert decision.complete is Reason.ALL_TRIALS_FINISHED


def test_a_recorded_trial_is_left_alone():
    recorded = {a_trial_id(0): a_passed_status()}
    decision = decide(an_observed(1, attempts=[an_ended_attempt(0)], recorded=recorded))
    assert decision.is_empty
    assert decision.complete is Reason.ALL_TRIALS_FINISHED


def test_an_attempt_that_outlived_its_trial_is_stopped():
    recorded = {a_trial_id(0): a_passed_status()}
    decision = decide(an_observed(1, attempts=[an_attempt(0, number=2)], recorded=recorded))
    assert decision.stop == (Stop(a_trial_id(0), 2, "TrialEnded"),)


def test_an_infra_failure_is_closed_and_then_the_next_attempt_starts():
    failed = an_ended_attempt(0, failure=a_failure())
    decision = decide(an_observed(1, attempts=[failed]))
    assert [close.attempt.reason for close in decision.close] == ["Evicted"]
    assert started(decision) == [("task-0", 2)]
    assert not decision.record


def test_infra_retries_run_out_and_the_trial_has_no_score():
    history = {a_trial_id(0): [closed(1), closed(2), closed(3)]}
    failed = an_ended_attempt(0, number=4, failure=a_failure())
    decision = decide(an_observed(1, attempts=[failed], closed=history))
    (record,) = decision.record
    assert (record.status.outcome, record.status.score) == ("InfraFailed", None)
    assert [attempt.number for attempt in record.status.attempts] == [1, 2, 3, 4]


def test_an_interrupted_attempt_uses_up_no_retry():
    history = {a_trial_id(0): [closed(number, None) for number in (1, 2, 3)]}
    failed = an_ended_attempt(0, number=4, failure=a_failure())
    assert decide(an_observed(1, attempts=[failed], closed=history)).close


def test_a_late_verdict_of_a_closed_attempt_is_ignored():
    history = {a_trial_id(0): [closed(1)]}
    attempts = [an_ended_attempt(0, number=1), an_attempt(0, number=2)]
    assert decide(an_observed(1, attempts=attempts, closed=history)).is_empty


@pytest.mark.parametrize(
    ("failure_class", "reason", "outcome", "score"),
    [
        pytest.param(FailureClass.TASK, "OOMKilled", "AgentError", 0, id="agent-out-of-memory"),
        pytest.param(FailureClass.TASK, "DeadlineExceeded", "TimedOut", 0, id="agent-too-slow"),
        pytest.param(FailureClass.GRADER, "NoVerdict", "GraderError", None, id="no-verdict"),
        pytest.param(FailureClass.CONFIG, "ImagePullFailed", "InfraFailed", None, id="bad-image"),
        pytest.param(FailureClass.PROVIDER, "Overloaded", "InfraFailed", None, id="provider"),
    ],
)
def test_failures_become_outcomes_and_null_is_never_zero(failure_class, reason, outcome, score):
    failed = an_ended_attempt(0, failure=a_failure(failure_class, reason=reason))
    (record,) = decide(an_observed(1, attempts=[failed])).record
    assert (record.status.outcome, record.status.score) == (outcome, score)


def test_an_agent_out_of_memory_runs_again_only_when_asked():
    failed = an_ended_attempt(0, failure=a_failure(FailureClass.TASK, reason="OOMKilled"))
    policy = FailurePolicy(retry_on_oom=True)
    assert decide(an_observed(1, attempts=[failed], policy=policy)).close


def test_an_attempt_that_ends_without_a_word_is_retried_as_infra():
    silent = an_ended_attempt(0, verdict=None)
    (close,) = decide(an_observed(1, attempts=[silent])).close
    assert (close.attempt.failure_class, close.attempt.reason) == (
        FailureClass.INFRA,
        "Unexplained",
    )


def test_a_waiting_attempt_is_looked_at_again_when_its_time_is_up():
    attempt = an_attempt(0, phase=AttemptPhase.WAITING, waiting=waiting())
    decision = decide(an_observed(1, attempts=[attempt]))
    assert decision.is_empty
    assert decision.wake_at == NOON + seconds(600)
    assert decision.waiting == attempt.waiting


@pytest.mark.parametrize(
    ("reason", "now", "expected"),
    [
        pytest.param(
            waiting(), NOON + seconds(600), "Unschedulable", id="capacity-after-the-timeout"
        ),
        pytest.param(
            waiting(reason=Reason.IMAGE_PULL_FAILED, fatal=True, failure_class=FailureClass.CONFIG),
            NOON + FATAL_GRACE,
            "ImagePullFailed",
            id="fatal-after-a-short-grace",
        ),
        pytest.param(None, NOON + seconds(600), "PendingTimeout", id="nobody-says-why"),
    ],
)
def test_an_attempt_that_waits_too_long_ends_its_trial_by_name(reason, now, expected):
    attempt = an_attempt(0, phase=AttemptPhase.WAITING, waiting=reason)
    decision = decide(an_observed(1, attempts=[attempt], now=now))
    (record,) = decision.record
    assert record.status.outcome == "InfraFailed"
    assert record.status.reason.startswith(expected)
    assert decision.stop == (Stop(a_trial_id(0), 1, expected),)


def test_suspend_stops_what_runs_keeps_what_ended_and_starts_nothing():
    attempts = [an_attempt(0), an_ended_attempt(1)]
    decision = decide(an_observed(3, attempts=attempts, suspend=True))
    assert [stop.trial for stop in decision.stop] == [a_trial_id(0)]
    assert [close.attempt.failure_class for close in decision.close] == [None]
    assert [record.trial for record in decision.record] == [a_trial_id(1)]
    assert not decision.start
    assert decision.complete is None


def test_after_a_suspension_the_next_attempt_has_a_new_number():
    history = {a_trial_id(0): [closed(1, None)]}
    assert decide(an_observed(1, closed=history)).start == (Start(a_trial_id(0), 2),)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        pytest.param({"cancelled": True}, Reason.CANCELLED, id="cancelled"),
        pytest.param(
            {"active_deadline_seconds": 10}, Reason.DEADLINE_EXCEEDED, id="deadline-reached"
        ),
    ],
)
def test_an_ended_run_keeps_verdicts_and_cancels_the_rest(changes, reason):
    attempts = [an_attempt(0), an_ended_attempt(1)]
    decision = decide(an_observed(3, attempts=attempts, **changes))
    outcomes = {record.trial.task: record.status.outcome for record in decision.record}
    assert outcomes == {"task-0": "Cancelled", "task-1": "Passed", "task-2": "Cancelled"}
    assert decision.complete is reason
    assert [stop.trial for stop in decision.stop] == [a_trial_id(0)]


def test_what_a_cancelled_attempt_spent_is_unknown_and_not_zero():
    decision = decide(an_observed(1, attempts=[an_attempt(0)], cancelled=True))
    (record,) = decision.record
    assert record.status.cost_usd is None
    assert not record.status.cost_complete


def test_a_cancelled_attempt_of_which_nothing_ran_cost_nothing():
    attempt = an_attempt(0, phase=AttemptPhase.WAITING)
    (record,) = decide(an_observed(1, attempts=[attempt], cancelled=True)).record
    assert (record.status.cost_usd, record.status.cost_complete) == (0, True)


def test_a_lost_attempt_that_is_cancelled_stays_in_the_history():
    failed = an_ended_attempt(0, failure=a_failure())
    (record,) = decide(an_observed(1, attempts=[failed], cancelled=True)).record
    assert [attempt.reason for attempt in record.status.attempts] == ["Evicted"]


def test_a_deadline_ahead_is_a_reason_to_wake_up():
    decision = decide(an_observed(1, attempts=[an_attempt(0)], active_deadline_seconds=60))
    assert decision.wake_at == NOON + seconds(60)


def test_identical_configuration_errors_stop_the_run_early():
    failure = a_failure(FailureClass.CONFIG, reason="ImagePullFailed")
    attempts = [an_ended_attempt(number, failure=failure) for number in range(3)]
    decision = decide(an_observed(5, attempts=attempts))
    outcomes = [record.status.outcome for record in decision.record]
    assert outcomes == ["InfraFailed"] * 3 + ["Cancelled"] * 2
    assert "ImagePullFailed" in decision.record[-1].status.reason
    assert not decision.start
    assert decision.complete is Reason.ALL_TRIALS_FINISHED


def test_one_scored_trial_shows_that_the_configuration_works():
    failure = a_failure(FailureClass.CONFIG, reason="ImagePullFailed")
    attempts = [an_ended_attempt(number, failure=failure) for number in range(3)]
    decision = decide(an_observed(5, attempts=[*attempts, an_ended_attempt(3)]))
    assert started(decision) == [("task-4", 1)]


def test_attempts_that_cannot_be_made_are_tried_again_later_and_explained():
    stuck = waiting(reason=Reason.QUOTA_EXCEEDED, since=NOON)
    early = decide(an_observed(1, stuck=stuck, now=NOON + seconds(1)))
    assert early.is_empty
    assert early.waiting == stuck
    assert early.wake_at == NOON + STUCK_RETRY
    assert decide(an_observed(1, stuck=stuck, now=NOON + STUCK_RETRY)).start


@pytest.mark.parametrize(
    ("waited", "given_up"),
    [
        pytest.param(599, False, id="within-pendingTimeoutSeconds"),
        pytest.param(600, True, id="then-given-up"),
    ],
)
def test_what_nobody_mends_ends_trials_without_a_score_after_the_time_to_wait(waited, given_up):
    now = NOON + seconds(waited)
    stuck = waiting(reason=Reason.SERVICE_ACCOUNT_UNFIT, message="carries secrets", since=now)
    decision = decide(an_observed(2, stuck=stuck, unfit_since=NOON, now=now))
    assert not decision.start
    ended = [(one.status.outcome, one.status.score, one.status.reason) for one in decision.record]
    expected = ("InfraFailed", None, "ServiceAccountUnfit: carries secrets")
    assert ended == ([expected] * 2 if given_up else [])
    assert decision.complete is (Reason.ALL_TRIALS_FINISHED if given_up else None)


def test_a_trial_that_runs_already_goes_on_where_others_cannot_be_made():
    stuck = waiting(reason=Reason.SERVICE_ACCOUNT_UNFIT, since=NOON)
    running = an_attempt(0, phase=AttemptPhase.RUNNING)
    decision = decide(
        an_observed(2, attempts=[running], stuck=stuck, unfit_since=NOON, now=NOON + seconds(700))
    )
    assert [one.trial.task for one in decision.record] == ["task-1"]
    assert not decision.stop
    assert decision.complete is None


def test_a_verdict_on_other_criteria_is_a_grader_error():
    desired = [a_desired(0, criteria=("first", "second"))]
    (record,) = decide(an_observed(1, desired=desired, attempts=[an_ended_attempt(0)])).record
    assert (record.status.outcome, record.status.score) == ("GraderError", None)
