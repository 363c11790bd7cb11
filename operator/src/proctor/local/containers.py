"""What a run may ask for that this machine cannot give: it has no containers (pure)."""

from collections.abc import Iterator

from proctor.api.errors import Problem
from proctor.api.task import Sandbox
from proctor.api.workspace import Workspace
from proctor.planning.model import RunSource
from proctor.planning.service_rules import local_problems as service_problems
from proctor.planning.workspaces import local_problems as workspace_problems


def container_problems(source: RunSource) -> Iterator[Problem]:
    """Everything that needs a container, with the path where it was written."""
    for field, sandbox, workspace in _layers(source):
        if sandbox is not None:
            for problem in service_problems(sandbox.services, f"{field}.sandbox.services"):
                yield source.places.locate(problem)
        for problem in workspace_problems(workspace, f"{field}.workspace"):
            yield source.places.locate(problem)


def _layers(source: RunSource) -> Iterator[tuple[str, Sandbox | None, Workspace | None]]:
    yield "spec", source.spec.sandbox, None
    for index, task in enumerate(source.spec.tasks):
        yield f"spec.tasks[{index}]", task.sandbox, task.workspace
    for index, variant in enumerate(source.spec.variants):
        yield f"spec.variants[{index}]", variant.sandbox, variant.workspace
