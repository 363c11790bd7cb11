"""Whose failure it is when evidence is missing (sandbox rule: blame), as pure functions."""

from dataclasses import dataclass

from proctor.api.report import AgentReport, ChecksReport
from proctor.api.verdict import Scored, Unscored, Verdict

_ENDED = frozenset({"completed", "crashed", "timeout", "max_turns", "interrupted"})


@dataclass(frozen=True, slots=True)
class AgentClaim:
    """How the agent's part ended, and what to say of every criterion when it cannot be graded.

    ``verdict`` None: the criteria are judged by their evidence.
    """

    report: AgentReport
    verdict: Verdict | None = None


def believe_agent(report: AgentReport | None, problem: str, *, agent_runs: bool) -> AgentClaim:
    """Make the agent's report, or its absence, into what grading rests on.

    Args:
        report: What the phase left; None when it could not be read.
        problem: Why it could not be read.
        agent_runs: False for agent type none, whose phase is trusted and owes nothing.
    """
    if report is not None and report.status == "setup_failed" and not report.started:
        return AgentClaim(report, Unscored(f"nothing was set up: {report.reason}"))
    if not agent_runs:
        return AgentClaim(report if report is not None else AgentReport("not_run"))
    if report is None or report.status not in _ENDED:
        said = problem or f"the evidence says {report.status!r}" if report else problem
        reason = f"no evidence of an ended agent: {said}"
        return AgentClaim(AgentReport("crashed", reason, started=True), Scored(0.0, reason))
    return AgentClaim(report)


def missing_results(
    report: ChecksReport | None, problem: str, owed: int, found: int, *, agent_runs: bool
) -> Verdict | None:
    """What to say of a criterion whose commands owe results; None when they are all there.

    Once an agent has run, whatever keeps the checks from leaving them is its failure.
    """
    if owed == 0:
        return None
    if report is None:
        reason = f"no evidence of the checks: {problem}"
    elif report.setup_failed is not None:
        reason = f"the checks could not begin: {report.setup_failed}"
    elif found != owed:
        reason = f"{found} of {owed} command results were left"
    else:
        return None
    return Scored(0.0, reason) if agent_runs else Unscored(reason)
