"""Bundles that a run names → tasks of the run (pure).

Whoever plans hands in what the bundles hold; from then on their tasks are tasks like others.
"""

from collections.abc import Iterator
from dataclasses import replace

from proctor.api.errors import Problem
from proctor.api.evalrun import MAX_TASKS
from proctor.planning.model import RunSource
from proctor.planning.places import Place, SourceMap


def bundle_field(index: int) -> str:
    """Path of a bundle that ``tasksFrom`` names."""
    return f"spec.tasksFrom[{index}].bundle"


def bundle_problems(source: RunSource) -> Iterator[Problem]:
    """Bundles that nobody handed in, and more tasks than a run may have."""
    for index, named in enumerate(source.spec.tasks_from):
        if named.bundle.digest not in source.bundles:
            yield Problem(
                f"{bundle_field(index)}.digest",
                f"{named.bundle.digest} lies on a cluster's results server, which is not asked "
                "here",
                "give the folder itself that was pushed: proctor run FOLDER",
            )
    count = len(with_bundles(source).spec.tasks)
    if count > MAX_TASKS:
        message = f"{count} tasks with those of bundles are too many for one run"
        yield Problem("spec.tasksFrom", message, f"keep them at {MAX_TASKS}")


def with_bundles(source: RunSource) -> RunSource:
    """The run with the tasks of its bundles behind its own; what is missing is left out."""
    spec = source.spec
    tasks, places = [*spec.tasks], dict[str, Place]()
    for index, named in enumerate(spec.tasks_from):
        for number, task in enumerate(source.bundles.get(named.bundle.digest, ())):
            field = f"{bundle_field(index)}.tasks[{number}]"
            places[f"spec.tasks[{len(tasks)}]"] = replace(
                source.places.place(bundle_field(index)), field=field
            )
            tasks.append(task)
    return replace(
        source,
        spec=spec.model_copy(update={"tasks": tuple(tasks)}),
        places=source.places.joined(SourceMap(places)),
    )
