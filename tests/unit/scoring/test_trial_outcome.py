from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders import a_bill
from proctor.api.outcome import UNSCORED_OUTCOMES, Outcome
from proctor.api.verdict import Scored, Unscored
from proctor.scoring.trial import CriterionResult, TrialFacts, trial_outcome, weighted_score


def a_result(score=1.0, weight=1.0, threshold=0.9, explanation="why"):
    verdict = Unscored("our fault") if score is None else Scored(score, explanation)
    return CriterionResult("file_exists", "check", weight, threshold, verdict)


def facts(agent="completed", reason="", **bill):
    return TrialFacts(agent, reason, a_bill(**bill))


@pytest.mark.parametrize(
    ("results", "given_facts", "outcome", "score"),
    [
        pytest.param([a_result(1.0)], facts(), Outcome.PASSED, 1, id="all-reached"),
        pytest.param([a_result(1.0), a_result(0.0)], facts(), Outcome.FAILED, 0.5, id="one-missed"),
        pytest.param(
            [a_result(1.0), a_result(0.0, weight=0)],
            facts(),
            Outcome.PASSED,
            1,
            id="weight-0-informs",
        ),
        pytest.param([a_result(None)], facts(), Outcome.GRADER_ERROR, None, id="unscored-is-ours"),
        pytest.param(
            [a_result(1.0), a_result(None, weight=0)],
            facts(),
            Outcome.PASSED,
            1,
            id="unscored-info",
        ),
        pytest.param(
            [a_result(1.0)], facts("timeout"), Outcome.TIMED_OUT, 1, id="timeout-never-passes"
        ),
        pytest.param(
            [a_result(1.0)], facts("crashed"), Outcome.AGENT_ERROR, 1, id="crash-never-passes"
        ),
        pytest.param(
            [a_result(0.0)], facts("crashed"), Outcome.AGENT_ERROR, 0, id="crash-and-fail"
        ),
        pytest.param(
            [a_result(0.0)],
            facts("crashed", provider_error="anthropic answered 529"),
            Outcome.INFRA_FAILED,
            None,
            id="the-provider-failed",
        ),
        pytest.param(
            [a_result(0.0)],
            facts("timeout", provider_error="anthropic answered 529"),
            Outcome.INFRA_FAILED,
            None,
            id="the-provider-failed-until-the-time-was-up",
        ),
        pytest.param(
            [a_result(0.0)],
            facts("completed", provider_error="anthropic answered 529"),
            Outcome.FAILED,
            0,
            id="the-agent-gave-up-by-itself",
        ),
        pytest.param([a_result(1.0)], facts("max_turns"), Outcome.PASSED, 1, id="turns-and-pass"),
        pytest.param(
            [a_result(0.0)], facts("max_turns"), Outcome.TURNS_EXHAUSTED, 0, id="turns-and-fail"
        ),
        pytest.param(
            [a_result(0.0)],
            facts("crashed", refused="maxModelCalls"),
            Outcome.TURNS_EXHAUSTED,
            0,
            id="calls-used-up",
        ),
        pytest.param(
            [a_result(1.0)], facts(refused="maxUsd"), Outcome.COST_BUDGET_EXCEEDED, 1, id="money"
        ),
        pytest.param(
            [a_result(1.0)],
            facts(refused="budget"),
            Outcome.COST_BUDGET_EXCEEDED,
            1,
            id="runs-money",
        ),
        pytest.param(
            [a_result(1.0)],
            facts("crashed", refused="maxTotalTokens"),
            Outcome.TOKEN_BUDGET_EXCEEDED,
            1,
            id="tokens",
        ),
        pytest.param(
            [a_result(1.0)],
            facts("crashed", refused="maxModelCalls"),
            Outcome.AGENT_ERROR,
            1,
            id="a-crash-after-a-refusal-never-passes",
        ),
        pytest.param(
            [a_result(1.0)], facts("setup_failed"), Outcome.INFRA_FAILED, None, id="setup-failed"
        ),
        pytest.param([a_result(1.0)], facts("not_run"), Outcome.PASSED, 1, id="agent-none"),
    ],
)
def test_outcome_and_score(results, given_facts, outcome, score):
    decided = trial_outcome(results, given_facts)
    assert decided.outcome is outcome
    assert decided.score == (None if score is None else Decimal(str(score)))


def test_the_reason_names_the_first_failing_criterion():
    decided = trial_outcome([a_result(1.0), a_result(0.2, explanation="1 of 5 found")], facts())
    assert decided.reason == "check: 1 of 5 found"


@pytest.mark.parametrize(
    ("results", "given_facts", "reason"),
    [
        pytest.param([a_result(None)], facts(), "check: our fault", id="unscored"),
        pytest.param([], facts(), "no criterion has a weight", id="nothing-to-check"),
        pytest.param(
            [a_result()], facts("setup_failed", "preRun failed"), "preRun failed", id="setup"
        ),
        pytest.param([a_result()], facts("timeout", "after 5 s"), "after 5 s", id="timeout"),
        pytest.param([a_result()], facts(refused="maxUsd"), "maxUsd was used up", id="budget"),
        pytest.param(
            [a_result()],
            facts(refused="budget"),
            "the run's budget (spec.budget.usd) was used up",
            id="runs-budget",
        ),
        pytest.param([a_result()], facts(), "", id="passed-needs-none"),
    ],
)
def test_the_reason_says_why_it_did_not_pass(results, given_facts, reason):
    assert trial_outcome(results, given_facts).reason == reason


def test_weights_and_thresholds_decide():
    results = [a_result(0.5, weight=3, threshold=0.5), a_result(1.0, weight=1)]
    decided = trial_outcome(results, facts())
    assert (decided.outcome, decided.score) == (Outcome.PASSED, Decimal("0.625"))
    assert decided.passed == (True, True)


@given(
    scores=st.lists(
        st.tuples(st.none() | st.floats(0, 1), st.floats(0, 1000)), min_size=1, max_size=8
    ),
    agent=st.sampled_from(["completed", "crashed", "timeout", "max_turns", "not_run"]),
)
def test_a_score_is_null_exactly_for_outcomes_without_one(scores, agent):
    results = [a_result(score, weight) for score, weight in scores]
    decided = trial_outcome(results, facts(agent))
    assert (decided.score is None) == (decided.outcome in UNSCORED_OUTCOMES)
    if decided.score is not None:
        assert 0 <= decided.score <= 1
    if decided.outcome is Outcome.PASSED:
        assert all(result.passed for result in results if result.weight)


def test_no_weight_at_all_has_no_score():
    assert weighted_score([a_result(1.0, weight=0)]) is None


def test_a_score_that_floats_took_a_hair_from_reaches_its_threshold() -> None:
    """A mean of 0.7, 0.8 and 0.9 may be 0.7999999999999999, and 0.8 was asked for."""
    assert a_result(0.7999999999999999, threshold=0.8).passed
    assert not a_result(0.7999999, threshold=0.8).passed


def test_nearly_all_is_never_kept_as_all() -> None:
    assert weighted_score([a_result(0.9999999)]) == Decimal("0.999999")
