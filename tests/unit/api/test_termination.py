import json
from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import a_verdict
from proctor.api.outcome import FailureClass
from proctor.api.termination import MAX_BYTES, TerminationError, TrialVerdict


def test_a_verdict_is_read_back_as_it_was_written():
    verdict = a_verdict(
        score=Decimal("0.25"), scores=(Decimal("0.25"), None), passed=(False, False)
    )
    assert TrialVerdict.from_message(verdict.to_message().decode()) == verdict


@pytest.mark.parametrize("mode", ["Live", "Record", "Replay", "Scripted"])
def test_who_answered_is_read_back(mode):
    verdict = a_verdict(bill=replace(a_verdict().bill, mode=mode))
    assert TrialVerdict.from_message(verdict.to_message().decode()) == verdict


def test_whose_fault_it_was_is_read_back():
    verdict = a_verdict(score=None, failure_class=FailureClass.PROVIDER)
    assert TrialVerdict.from_message(verdict.to_message().decode()) == verdict


@pytest.mark.parametrize("stored", [None, True, False])
def test_whether_the_record_was_stored_is_read_back(stored):
    verdict = a_verdict(stored=stored, not_stored="" if stored is not False else "no answer")
    assert TrialVerdict.from_message(verdict.to_message().decode()) == verdict


def test_a_message_that_is_padded_is_the_same_verdict():
    verdict = a_verdict(stored=True)
    assert TrialVerdict.from_message(verdict.to_message().decode().ljust(990)) == verdict


@given(
    reason=st.text(max_size=3000), why=st.text(min_size=1, max_size=120), count=st.integers(0, 50)
)
def test_a_verdict_always_fits_and_stays_whole_json(reason, why, count):
    verdict = a_verdict(
        reason=reason,
        scores=(Decimal("0.333333"),) * count,
        passed=(False,) * count,
        stored=False,
        not_stored=why,
    )
    message = verdict.to_message()
    assert len(message) <= MAX_BYTES
    read = TrialVerdict.from_message(message.decode())
    assert replace(read, reason="", not_stored="") == replace(verdict, reason="", not_stored="")


def test_too_many_criteria_are_refused_by_name():
    verdict = a_verdict(scores=(Decimal("0.333333"),) * 200, passed=(False,) * 200)
    with pytest.raises(ValueError, match="at most 1000"):
        verdict.to_message()


def changed(**keys):
    body = json.loads(a_verdict().to_message())
    return json.dumps({**body, **keys})


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("", id="empty"),
        pytest.param("PASSED", id="not-json"),
        pytest.param("[]", id="not-an-object"),
        pytest.param("{}", id="nothing-in-it"),
        pytest.param(changed(v=99), id="another-version"),
        pytest.param(changed(o="Perfect"), id="unknown-outcome"),
        pytest.param(changed(s="7"), id="score-above-one"),
        pytest.param(changed(s="NaN"), id="score-not-a-number"),
        pytest.param(changed(c=["-1"]), id="negative-score"),
        pytest.param(changed(u=[1, 2]), id="usage-cut-short"),
        pytest.param(a_verdict().to_message().decode()[:200], id="cut-by-the-kubelet"),
    ],
)
def test_what_is_no_verdict_is_refused(message):
    with pytest.raises(TerminationError):
        TrialVerdict.from_message(message)
