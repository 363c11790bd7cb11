"""What goes into a record: a graded attempt as the parts of a record folder."""

import contextlib
from pathlib import Path

from proctor.api.record import (
    CHECKS_PART,
    EXECUTION,
    LEDGER,
    Execution,
    Grading,
    RecordSeconds,
    grading_part,
)
from proctor.api.report import CHECKS_REPORT, TRANSCRIPT
from proctor.runner.claims import CHECKS_BYTES, TRANSCRIPT_BYTES, ClaimError, read_claim
from proctor.runner.fetched import read_notes
from proctor.runner.graded import Graded
from proctor.runner.places import GradePlaces
from proctor.runner.record import (
    recorded_agent,
    recorded_bill,
    recorded_criterion,
    recorded_trial,
    seconds_text,
    to_lines,
    to_part,
)


def record_parts(graded: Graded, places: GradePlaces) -> dict[str, bytes]:
    """The parts by path, without the manifest. Evidence goes in as it was left, if at all."""
    parts = {
        EXECUTION: to_part(_execution(graded, places)),
        grading_part(1): to_part(_grading(graded)),
    }
    if graded.ledger.entries:
        parts[LEDGER] = to_lines(graded.ledger.entries)
    with contextlib.suppress(ClaimError):
        parts[TRANSCRIPT] = read_claim(places.agent_evidence, TRANSCRIPT, TRANSCRIPT_BYTES)
    if places.checks_evidence is not None:
        with contextlib.suppress(ClaimError):
            parts[CHECKS_PART] = read_claim(places.checks_evidence, CHECKS_REPORT, CHECKS_BYTES)
    return parts


def _execution(graded: Graded, places: GradePlaces) -> Execution:
    agent, checks = graded.report.seconds, graded.checks_seconds
    return Execution(
        trial=recorded_trial(places.trial),
        context=dict(graded.orders.context),
        lineage=dict(graded.orders.lineage),
        agent=recorded_agent(graded.report),
        bill=recorded_bill(graded.ledger.bill),
        seconds=RecordSeconds(
            agent=None if agent is None else seconds_text(agent),
            checks=None if checks is None else seconds_text(checks),
            grade=seconds_text(graded.grade_seconds),
        ),
        workspace_notes=_notes(places.fetched),
    )


def _notes(fetched: Path | None) -> tuple[str, ...]:
    """Where agents run as the same user, they may have taken the notes away."""
    try:
        return read_notes(fetched)
    except (OSError, ValueError, TypeError) as error:
        return (f"what was to be said of the repository cannot be read: {type(error).__name__}",)


def _grading(graded: Graded) -> Grading:
    pairs = zip(graded.orders.criteria, graded.results, strict=True)
    return Grading(
        outcome=graded.score.outcome.value,
        score=graded.score.score,
        reason=graded.score.reason,
        criteria=tuple(
            recorded_criterion(result, has_commands=order.commands > 0) for order, result in pairs
        ),
        absent=dict(graded.absent),
    )
