"""What `kubectl get` prints."""

from collections.abc import Mapping

from proctor.schema.structural import Node


def _column(name: str, path: str, kind: str = "string", *, wide: bool = False) -> Node:
    column: Node = {"name": name, "type": kind, "jsonPath": path}
    return {**column, "priority": 1} if wide else column


_AGE = _column("Age", ".metadata.creationTimestamp", "date")

COLUMNS: Mapping[str, tuple[Node, ...]] = {
    "EvalRun": (
        _column("Status", ".status.state"),
        _column("Passed", ".status.trials.passed", "integer"),
        _column("Total", ".status.trials.total", "integer"),
        _column("Score", ".status.score"),
        _column("Cost", ".status.costUsd"),
        _column("Gate", ".status.gate"),
        _column("Scripted", ".status.scriptedCostUsd", wide=True),
        _column("Agent", ".status.agent", wide=True),
        _AGE,
    ),
    "EvalTrial": (
        _column("Run", ".spec.runName"),
        _column("Task", ".spec.task"),
        _column("Variant", ".spec.variant"),
        _column("Repeat", ".spec.repeat", "integer"),
        _column("Outcome", ".status.outcome"),
        _column("Score", ".status.score"),
        _column("Cost", ".status.costUsd"),
        _column("Scripted", ".status.scriptedCostUsd", wide=True),
        _column("Attempt", ".spec.attempt", "integer", wide=True),
        _AGE,
        _column("Reason", ".status.reason"),
    ),
}
