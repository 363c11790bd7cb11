"""Whether a run reached what its gate asks for (pure)."""

from dataclasses import dataclass
from decimal import Decimal

from proctor.api.conditions import Reason
from proctor.api.evalrun import Gate
from proctor.api.ratio import exact, ratio_text
from proctor.scoring.run import Aggregate


@dataclass(frozen=True, slots=True)
class GateVerdict:
    """``passed``, with the reason for the condition and one sentence on every miss."""

    passed: bool
    reason: Reason
    message: str


def gate_verdict(gate: Gate, reached: Aggregate) -> GateVerdict:
    """Compare; what was not measured misses its threshold, and completion is looked at first."""
    completion = _miss("completion ratio", reached.completion_ratio, gate.min_completion_ratio)
    if completion:
        return GateVerdict(False, Reason.COMPLETION_MISSED, completion)
    misses = [
        miss
        for miss in (
            _miss("pass ratio", reached.pass_ratio, gate.min_pass_ratio),
            _miss("score", reached.score, gate.min_score),
        )
        if miss
    ]
    if misses:
        return GateVerdict(False, Reason.PASS_THRESHOLD_MISSED, "; ".join(misses))
    return GateVerdict(True, Reason.GATE_MET, "every threshold was reached")


def _miss(name: str, value: Decimal | None, least: float | None) -> str | None:
    if least is None:
        return None
    if value is None:
        return f"{name} was not measured, at least {least} is asked for"
    if value >= exact(least):
        return None
    return f"{name} is {ratio_text(value)}, at least {least} is asked for"
