"""What a run says about its records."""

from builders import (
    a_passed_status,
    a_trial_id,
    a_verdict,
    an_ended_attempt,
    an_observed,
)
from proctor.api.conditions import ConditionType
from proctor.api.evaltrial import EvalTrialStatus
from proctor.engine.decide import decide
from proctor.engine.status import run_status


def stored(observed):
    status = run_status(observed, decide(observed), generation=1, seed="s")
    kind = ConditionType.RESULTS_STORED
    return next((one for one in status.conditions if one.type == kind), None)


KEPT = a_passed_status(record_digest="sha256:d", record_place="ResultsServer")
LOST = a_passed_status(record_digest="sha256:d", record_problem="the server is full")


def recorded(*statuses):
    return {a_trial_id(number): status for number, status in enumerate(statuses)}


def test_a_run_that_is_complete_says_that_all_records_are_stored():
    found = stored(an_observed(2, recorded=recorded(KEPT, KEPT)))
    assert (found.status, found.reason) == ("True", "AllStored")
    assert found.message == "2 records are stored"


def test_it_is_silent_while_the_run_goes_on_and_nothing_is_missing():
    assert stored(an_observed(3, recorded=recorded(KEPT, KEPT))) is None


def test_a_missing_record_is_named_with_its_reason_at_once():
    found = stored(an_observed(3, recorded=recorded(KEPT, LOST)))
    assert (found.status, found.reason) == ("False", "RecordsMissing")
    trial = a_trial_id(1)
    named = f"{trial.task}/{trial.variant}/{trial.repeat} (the server is full)"
    assert found.message == f"1 records are stored, 1 missing: {named}"


def test_trials_without_a_verdict_left_no_record_and_are_counted():
    recorded_ = recorded(KEPT, EvalTrialStatus(outcome="InfraFailed"))
    found = stored(an_observed(2, recorded=recorded_))
    assert (found.status, found.message) == (
        "True",
        "1 records are stored, 1 trials left none",
    )


def test_without_a_results_server_nothing_is_said():
    plain = a_passed_status(record_digest="sha256:d")
    assert stored(an_observed(1, recorded=recorded(plain))) is None


def test_only_the_first_twenty_are_named():
    found = stored(an_observed(30, recorded=recorded(*[LOST] * 30)))
    assert found.message.count("the server is full") == 20
    assert "and 10 more" in found.message


def test_a_verdict_that_was_stored_says_where_its_record_is():
    attempt = an_ended_attempt(0, verdict=a_verdict(stored=True))
    (record,) = decide(an_observed(1, attempts=[attempt])).record
    assert (record.status.record_place, record.status.record_problem) == ("ResultsServer", "")


def test_a_verdict_that_was_not_stored_stands_and_says_why():
    attempt = an_ended_attempt(0, verdict=a_verdict(stored=False, not_stored="no answer"))
    (record,) = decide(an_observed(1, attempts=[attempt])).record
    assert record.status.outcome == "Passed"
    assert (record.status.record_place, record.status.record_problem) == (None, "no answer")
