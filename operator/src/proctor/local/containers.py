"""What a run may ask for that this machine cannot give, with and without containers (pure)."""

from collections.abc import Iterator

from proctor.api.container import SandboxUser
from proctor.api.egress import EgressMode
from proctor.api.errors import Problem
from proctor.api.task import Sandbox
from proctor.api.workspace import Workspace
from proctor.planning.model import Cell, RunPlan, RunSource
from proctor.planning.service_rules import local_problems as service_problems
from proctor.planning.workspaces import local_problems as workspace_problems

_CLOSED = (EgressMode.NONE, EgressMode.MODEL_ONLY)


def machine_problems(
    source: RunSource, plan: RunPlan, *, contained: bool, image_user: bool
) -> Iterator[Problem]:
    """Everything that cannot run here, in containers or without, with the path where it stands.

    ``image_user``: the user allows that containers run as what their image says.
    """
    for field, sandbox, workspace in _layers(source):
        if sandbox is not None:
            for problem in service_problems(sandbox.services, f"{field}.sandbox.services"):
                yield source.places.locate(problem)
        if not contained:
            for problem in workspace_problems(workspace, f"{field}.workspace"):
                yield source.places.locate(problem)
    if contained:
        for cell in plan.cells.values():
            for problem in _cell_problems(cell, _task_field(source, cell), image_user):
                yield source.places.locate(problem)


def _cell_problems(cell: Cell, field: str, image_user: bool) -> Iterator[Problem]:
    where = f"task {cell.task!r}, variant {cell.variant!r}"
    if cell.image is None:
        yield Problem(
            f"{field}.sandbox.image",
            f"{where} names no image, and --container runs every trial in one",
            "name one in the task or in spec.sandbox.image, or run without --container",
        )
    if cell.egress.mode not in _CLOSED:
        yield Problem(
            f"{field}.sandbox.egress.mode",
            f"{where} asks for {cell.egress.mode.value}, and containers here have no network",
            "use ModelOnly or None, put what is needed into the image, or use a cluster",
        )
    if cell.user is SandboxUser.IMAGE and not image_user:
        yield Problem(
            f"{field}.sandbox.user",
            f"{where} asks for the image's user, which may be root, and nobody has allowed it",
            "allow it by --allow-image-user, use NonRoot, or apply the run to a cluster",
        )


def _task_field(source: RunSource, cell: Cell) -> str:
    names = [task.name for task in source.spec.tasks]
    return f"spec.tasks[{names.index(cell.task)}]"


def _layers(source: RunSource) -> Iterator[tuple[str, Sandbox | None, Workspace | None]]:
    yield "spec", source.spec.sandbox, None
    for index, task in enumerate(source.spec.tasks):
        yield f"spec.tasks[{index}]", task.sandbox, task.workspace
    for index, variant in enumerate(source.spec.variants):
        yield f"spec.variants[{index}]", variant.sandbox, variant.workspace
