"""The phase ``grade``: evidence in, verdict out. Runs nothing that an agent left.

It has an image and volumes of its own; workspace and evidence are claims. Its last act is the
verdict, which the operator takes as the word on this attempt.
"""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.api.orders import GradeOrders
from proctor.api.termination import TrialVerdict
from proctor.plugins.builtin import builtin_registry
from proctor.runner.artifacts import keep_artifacts
from proctor.runner.blame import AgentClaim, believe_agent
from proctor.runner.claims import ClaimError, read_agent_report
from proctor.runner.graded import Graded, redacted
from proctor.runner.judgement import Judgement
from proctor.runner.judging import make_judge
from proctor.runner.kept import frozen_workspace
from proctor.runner.ledger import read_ledger
from proctor.runner.memory import read_memory
from proctor.runner.places import GradePlaces, ResultsPlace, read_key, read_orders
from proctor.runner.record import score_of, write_record
from proctor.runner.recording import record_parts
from proctor.runner.secret_values import phase_redactor
from proctor.runner.stopping import exit_on_signals
from proctor.runner.uploading import INTERRUPTED, send_record
from proctor.runner.worker import WorkerLimits, judge_in_worker, worker_memory
from proctor.scoring.trial import CriterionResult, TrialFacts, trial_outcome


def run_grade(places: GradePlaces) -> None:
    """Carry out the phase.

    Raises:
        PlatformError: When the orders are not readable or the record's folder is used.
        OSError: When record or verdict cannot be written.
    """
    exit_on_signals()
    places = replace(places, workspace=frozen_workspace(places.kept, places.workspace))
    key = read_key(places.key_file)
    redactor = phase_redactor(os.environ, key, read_key(places.pass_file))
    graded = redacted(_grade(places, _read_orders(places), key, time.monotonic()), redactor)
    for result in graded.results:
        print(_line(result), flush=True)
    parts = {path: redactor.json(data) for path, data in record_parts(graded, places).items()}
    keep = partial(keep_artifacts, graded.orders.artifacts, places.workspace, redactor)
    digest = write_record(places.record, parts, keep)
    verdict = _verdict(graded, places, digest)
    if places.results is None:
        _write_verdict(places.verdict, verdict.to_message())
    else:
        _store(places, places.results, verdict)


def _store(places: GradePlaces, results: ResultsPlace, verdict: TrialVerdict) -> None:
    """Send the record. The verdict is there before: whatever ends us meanwhile, it stands.

    The last word is no shorter than the first, so that one write replaces it.
    """
    first = replace(verdict, stored=False, not_stored=INTERRUPTED).to_message()
    _write_verdict(places.verdict, first)
    why = send_record(places.record, verdict.digest, results)
    last = replace(verdict, stored=not why, not_stored=why).to_message()
    with places.verdict.open("r+b", buffering=0) as file:
        file.write(last.ljust(len(first)))


def _grade(places: GradePlaces, orders: GradeOrders, key: str | None, begin: float) -> Graded:
    ledger = read_ledger(places.gateway, key)
    if ledger.problem is not None:
        print(json.dumps({"problem": ledger.problem}), flush=True)
        mode = orders.context.get("models") or ledger.bill.mode
        ledger = replace(ledger, bill=replace(ledger.bill, mode=mode))
    claim = _read_agent(orders, places)
    judged = _judge(orders, places, claim, time.monotonic() + orders.timeout_seconds)
    results = _results(orders, judged)
    facts = TrialFacts(claim.report.status, claim.report.reason, ledger.bill)
    known = [one.checks_seconds for one in judged if one.checks_seconds is not None]
    return Graded(
        orders=orders,
        report=claim.report,
        ledger=ledger,
        results=results,
        score=trial_outcome(results, facts),
        absent={path: why for one in judged for path, why in one.absent.items()},
        checks_seconds=known[0] if known else None,
        grade_seconds=time.monotonic() - begin,
    )


def _read_orders(places: GradePlaces) -> GradeOrders:
    try:
        return GradeOrders.from_json(read_orders(places.orders))
    except (LookupError, TypeError, ValueError) as error:
        raise PlatformError(f"orders {places.orders}: {error}") from error


def _read_agent(orders: GradeOrders, places: GradePlaces) -> AgentClaim:
    try:
        report, problem = read_agent_report(places.agent_evidence), ""
    except ClaimError as error:
        report, problem = None, str(error)
    return believe_agent(report, problem, agent_runs=orders.agent_runs)


def _judge(
    orders: GradeOrders, places: GradePlaces, claim: AgentClaim, deadline: float
) -> list[Judgement]:
    if claim.verdict is not None:
        return [Judgement(index, claim.verdict, 0.0) for index in range(len(orders.criteria))]
    registry = builtin_registry()
    return judge_in_worker(
        len(orders.criteria),
        lambda: make_judge(orders, places, registry),
        WorkerLimits(deadline, memory_bytes=worker_memory(read_memory())),
    )


def _results(orders: GradeOrders, judged: Sequence[Judgement]) -> tuple[CriterionResult, ...]:
    return tuple(
        CriterionResult(
            type=order.type,
            name=order.name,
            weight=order.weight,
            pass_threshold=order.pass_threshold,
            verdict=one.verdict,
            seconds=one.seconds,
        )
        for order, one in zip(orders.criteria, judged, strict=True)
    )


def _line(result: CriterionResult) -> str:
    score = score_of(result)
    body = {
        "type": result.type,
        "name": result.name,
        "score": None if score is None else float(score),
        "passed": result.passed,
        "explanation": result.explanation,
    }
    return json.dumps(body)


def _verdict(graded: Graded, places: GradePlaces, digest: str) -> TrialVerdict:
    return TrialVerdict(
        trial_uid=places.trial.uid,
        attempt=places.trial.attempt,
        outcome=graded.score.outcome,
        score=graded.score.score,
        scores=tuple(score_of(result) for result in graded.results),
        passed=graded.score.passed,
        bill=graded.ledger.bill,
        turns=graded.report.turns,
        agent_ms=_milliseconds(graded.report.seconds),
        checks_ms=_milliseconds(graded.checks_seconds),
        grade_ms=round(graded.grade_seconds * 1000),
        digest=digest,
        reason=graded.score.reason,
        failure_class=graded.score.failure_class,
    )


def _milliseconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds * 1000)


def _write_verdict(path: Path, message: bytes) -> None:
    """Write into the file that is there: a kubelet's termination log cannot be replaced."""
    with path.open("wb") as file:
        file.write(message)
