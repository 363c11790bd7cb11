"""Judges one criterion after another inside the worker: reads claims, asks the registry."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from proctor.api.evidence import Evidence, EvidenceLimitError
from proctor.api.orders import GradeOrders
from proctor.api.report import ChecksReport
from proctor.api.verdict import Verdict
from proctor.criteria.contract import Check
from proctor.plugins.judging import judge
from proctor.plugins.registry import Registry
from proctor.runner.blame import missing_results
from proctor.runner.capture import CapturedWorkspace
from proctor.runner.claims import ClaimError, read_checks_report
from proctor.runner.evidence import TrialEvidence
from proctor.runner.judgement import EXHAUSTED, Judgement
from proctor.runner.places import GradePlaces


@dataclass(frozen=True, slots=True)
class _Claims:
    report: ChecksReport | None
    problem: str


def make_judge(
    orders: GradeOrders, places: GradePlaces, registry: Registry
) -> Callable[[int], Judgement]:
    """Read the evidence of ``checks`` and return what judges a criterion by its index."""
    claims = _read_checks(orders, places)

    def judge_one(index: int) -> Judgement:
        begin = time.monotonic()
        order = orders.criteria[index]
        results = claims.report.results.get(index, ()) if claims.report else ()
        workspace = CapturedWorkspace(places.workspace)
        verdict = missing_results(
            claims.report,
            claims.problem,
            order.commands,
            len(results),
            agent_runs=orders.agent_runs,
        )
        if verdict is None:
            evidence = TrialEvidence(workspace, orders.reference, results)
            registered = registry.check(order.type)
            limited = replace(registered, check=_limited(registered.check))
            verdict = judge(limited, order.options, evidence)
        seconds = claims.report.seconds if claims.report else None
        return Judgement(index, verdict, time.monotonic() - begin, workspace.absent, seconds)

    return judge_one


def _limited(check: Check[Any]) -> Check[Any]:
    """Count memory and depth as limits of the evidence: no harmless sample exhausts them."""

    def check_within_limits(criterion: Any, evidence: Evidence, /) -> Verdict:
        try:
            return check(criterion, evidence)
        except EXHAUSTED as error:
            raise EvidenceLimitError(type(error).__name__) from error

    return check_within_limits


def _read_checks(orders: GradeOrders, places: GradePlaces) -> _Claims:
    if not orders.has_checks:
        return _Claims(None, "no checks were ordered")
    if places.checks_evidence is None:
        return _Claims(None, "its folder is not mounted")
    try:
        return _Claims(read_checks_report(places.checks_evidence), "")
    except ClaimError as error:
        return _Claims(None, str(error))
