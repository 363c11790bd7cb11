import pytest

from proctor.api.report import AgentReport, ChecksReport
from proctor.api.verdict import Scored, Unscored
from proctor.runner.blame import believe_agent, missing_results


@pytest.mark.parametrize("status", ["completed", "crashed", "timeout", "max_turns", "interrupted"])
def test_ended_agent_is_judged_by_its_evidence(status):
    claim = believe_agent(AgentReport(status, started=True), "", agent_runs=True)

    assert (claim.report.status, claim.verdict) == (status, None)


def test_missing_report_of_an_agent_is_its_crash_and_its_zero():
    claim = believe_agent(None, "agent.json: gone", agent_runs=True)

    assert claim.report.status == "crashed"
    assert claim.verdict == Scored(0.0, "no evidence of an ended agent: agent.json: gone")


def test_report_that_no_agent_ran_where_one_was_ordered_is_the_agents_zero():
    claim = believe_agent(AgentReport("not_run"), "", agent_runs=True)

    assert claim.verdict == Scored(
        0.0, "no evidence of an ended agent: the evidence says 'not_run'"
    )


@pytest.mark.parametrize("agent_runs", [True, False])
def test_setup_that_failed_scores_nothing(agent_runs):
    report = AgentReport("setup_failed", "preRun failed")

    claim = believe_agent(report, "", agent_runs=agent_runs)

    assert claim.report is report
    assert isinstance(claim.verdict, Unscored)


def test_agent_none_owes_no_evidence():
    assert believe_agent(None, "missing", agent_runs=False).report.status == "not_run"
    assert believe_agent(None, "missing", agent_runs=False).verdict is None


@pytest.mark.parametrize(
    ("report", "found", "reason"),
    [
        pytest.param(None, 0, "no evidence of the checks: gone", id="missing"),
        pytest.param(
            ChecksReport({}, setup_failed="preRun"),
            0,
            "the checks could not begin: preRun",
            id="setup",
        ),
        pytest.param(ChecksReport({}), 1, "1 of 2 command results were left", id="too-few"),
    ],
)
def test_missing_results_are_the_agents_failure_once_it_ran(report, found, reason):
    assert missing_results(report, "gone", 2, found, agent_runs=True) == Scored(0.0, reason)
    assert missing_results(report, "gone", 2, found, agent_runs=False) == Unscored(reason)


def test_nothing_is_missing_where_nothing_is_owed_or_all_is_there():
    assert missing_results(None, "gone", 0, 0, agent_runs=True) is None
    assert missing_results(ChecksReport({}), "", 2, 2, agent_runs=True) is None
