"""Writes a record folder; its manifest last, whose SHA-256 stands for all of it."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from decimal import Decimal
from pathlib import Path
from typing import Any

import proctor
from proctor.api.base import Status
from proctor.api.orders import TrialRef
from proctor.api.ratio import cut, exact
from proctor.api.record import (
    MANIFEST,
    RecordAgent,
    RecordBill,
    RecordCriterion,
    RecordManifest,
    RecordPart,
    RecordShell,
    RecordTokens,
    RecordTrial,
)
from proctor.api.report import AgentReport
from proctor.api.usage import Bill
from proctor.api.verdict import Scored
from proctor.runner.folders import require_unused
from proctor.scoring.trial import CriterionResult

_MILLISECOND = Decimal("0.001")


def write_record(
    folder: Path,
    parts: Mapping[str, bytes],
    fill: Callable[[Path], Sequence[RecordPart]] = lambda _: (),
) -> str:
    """Write all parts by path, and their manifest.

    Args:
        folder: Made when it is missing; must hold nothing.
        parts: Content by path.
        fill: Writes further parts into the folder and describes them.

    Returns:
        The record's digest: SHA-256 of the manifest, hexadecimal.

    Raises:
        UsedFolderError: When the folder holds something already.
    """
    require_unused(folder)
    for path, data in parts.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    described = [
        RecordPart(path=path, sha256=hashlib.sha256(data).hexdigest(), size=len(data))
        for path, data in parts.items()
    ]
    described += fill(folder)
    ordered = tuple(sorted(described, key=lambda part: part.path))
    manifest = RecordManifest(producer=f"proctor/{proctor.__version__}", parts=ordered)
    data = to_part(manifest)
    (folder / MANIFEST).write_bytes(data)
    return hashlib.sha256(data).hexdigest()


def to_part(model: Status) -> bytes:
    """A model as the JSON that lies in a record; texts that hold no valid UTF-8 are escaped."""
    return json.dumps(model.model_dump(mode="json", by_alias=True), indent=2).encode() + b"\n"


def to_lines(entries: Iterable[Mapping[str, Any]]) -> bytes:
    """One JSON object a line."""
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in entries)


def recorded_trial(trial: TrialRef) -> RecordTrial:
    """The trial's identity."""
    return RecordTrial(**asdict(trial))


def recorded_agent(report: AgentReport) -> RecordAgent:
    """The agent's report."""
    return RecordAgent(
        status=report.status,
        reason=report.reason,
        started=report.started,
        turns=report.turns,
        memory_kills=report.memory_kills,
        pre_run=tuple(
            RecordShell(
                command=one.command,
                exit_code=one.exit_code,
                output=one.output,
                seconds=seconds_text(one.seconds),
            )
            for one in report.pre_run
        ),
    )


def recorded_bill(bill: Bill) -> RecordBill:
    """The gateway's bill."""
    return RecordBill(
        mode=bill.mode,
        calls=bill.calls,
        tokens=RecordTokens(**asdict(bill.usage)),
        cost_usd=bill.cost_usd,
        cost_complete=bill.cost_complete,
        refused=bill.refused,
        provider_error=bill.provider_error,
    )


def recorded_criterion(result: CriterionResult, *, has_commands: bool) -> RecordCriterion:
    """One verdict; one that rests on commands says so."""
    return RecordCriterion(
        type=result.type,
        name=result.name,
        weight=result.weight,
        pass_threshold=result.pass_threshold,
        score=score_of(result),
        passed=result.passed,
        explanation=result.explanation,
        seconds=seconds_text(result.seconds),
        evidence="beside-agent" if has_commands else "frozen",
    )


def score_of(result: CriterionResult) -> Decimal | None:
    """Its score with six digits; None when it could not be checked."""
    if not isinstance(result.verdict, Scored):
        return None
    return cut(exact(result.verdict.score))


def seconds_text(seconds: float) -> Decimal:
    """Seconds to the millisecond, as records hold them."""
    return Decimal(str(max(0.0, seconds))).quantize(_MILLISECOND)
