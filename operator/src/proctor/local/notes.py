"""What a user should know before trials start on this machine (pure)."""

from collections.abc import Sequence
from pathlib import Path

from proctor.api.container import SandboxUser
from proctor.api.egress import EgressMode
from proctor.api.pod_template import PodTemplate
from proctor.local.cassette import recorded_path
from proctor.local.planned import PlannedRun
from proctor.local.secret_variables import secret_variables
from proctor.planning.layers import DEFAULT
from proctor.planning.model import Cell

NO_SANDBOX = (
    "agents and checks run here as you, without a sandbox and with this machine's network: use it "
    "for tasks and agents you trust"
)
CONTAINERS = (
    "agents and checks run here in containers without a network; grading, which runs nothing of "
    "theirs, runs as you"
)
_EGRESS = {
    EgressMode.NONE: "mode None only takes the agent's key for models away",
    EgressMode.MODEL_ONLY: "mode ModelOnly is for a cluster",
    EgressMode.ALLOW_LIST: "mode AllowList has no proxy, and every host is let through",
}


def notes(runs: Sequence[PlannedRun]) -> tuple[str, ...]:
    """One line each, the most important first."""
    cells = [cell for run in runs for cell in run.plan.cells.values()]
    contained = any(run.contained for run in runs)
    found = _of_containers(cells) if contained else [NO_SANDBOX, *_without_containers(cells)]
    if any(cell.pod != PodTemplate() for cell in cells):
        found.append("sandbox.podTemplate is not used here, only in a cluster: no volumes of it")
    if secrets := secret_variables(runs):
        found.append(f"agents are given variables of yours by secretEnv: {', '.join(secrets)}")
    if any(run.source.spec.suspend for run in runs):
        found.append("suspend is not used here: the run starts")
    found += [_recorded(run) for run in runs if run.models == "Record"]
    return tuple(found)


def _of_containers(cells: Sequence[Cell]) -> list[str]:
    images = sorted({cell.image or "" for cell in cells if cell.user is SandboxUser.IMAGE})
    if not images:
        return [CONTAINERS]
    return [CONTAINERS, f"containers run as what their image says, maybe root: {', '.join(images)}"]


def _without_containers(cells: Sequence[Cell]) -> list[str]:
    """What only a container could give."""
    found = []
    images = sorted({cell.image for cell in cells if cell.image})
    if images:
        found.append(f"sandbox.image is used only with --container: {', '.join(images)}")
    if any(cell.user is SandboxUser.IMAGE for cell in cells):
        found.append("sandbox.user is not used here: everything runs as you")
    if any(cell.persist for cell in cells):
        found.append("sandbox.persist is not used here: all trials share this machine's folders")
    return found + [f"sandbox.egress confines nothing here: {text}" for text in _egress(cells)]


def _egress(cells: Sequence[Cell]) -> list[str]:
    """What a mode that somebody asked for comes to."""
    asked = {cell.egress.mode for cell in cells if "sandbox.egress.mode" in _written(cell)}
    return [text for mode, text in _EGRESS.items() if mode in asked]


def _written(cell: Cell) -> set[str]:
    lineage = cell.orders.grade.lineage
    return {path for path, layer in lineage.items() if layer != DEFAULT}


def _recorded(run: PlannedRun) -> str:
    path = recorded_path(run.source, Path("the run's folder"))
    return f"{run.name} is recorded to {path}: read it before you give it to others"
