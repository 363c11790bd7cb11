"""What a run may ask for that this machine cannot give: it has no containers (pure)."""

from collections.abc import Iterator

from proctor.api.errors import Problem
from proctor.api.task import Sandbox
from proctor.planning.model import RunSource
from proctor.planning.service_rules import local_problems


def container_problems(source: RunSource) -> Iterator[Problem]:
    """Everything that needs a container, with the path where it was written."""
    for field, sandbox in _sandboxes(source):
        if sandbox is not None:
            for problem in local_problems(sandbox.services, f"{field}.sandbox.services"):
                yield source.places.locate(problem)


def _sandboxes(source: RunSource) -> Iterator[tuple[str, Sandbox | None]]:
    yield "spec", source.spec.sandbox
    for index, task in enumerate(source.spec.tasks):
        yield f"spec.tasks[{index}]", task.sandbox
    for index, variant in enumerate(source.spec.variants):
        yield f"spec.variants[{index}]", variant.sandbox
