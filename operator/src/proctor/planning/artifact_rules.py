"""What artifacts a run may ask for (pure)."""

from collections.abc import Iterator

from proctor.api.errors import Problem
from proctor.api.task import Artifacts


def artifact_problems(artifacts: Artifacts, field: str) -> Iterator[Problem]:
    """Patterns that lead out of the workspace."""
    for index, glob in enumerate(artifacts.paths):
        if ".." in glob.split("/"):
            where = f"{field}.paths[{index}]"
            yield Problem(where, f"{glob!r} leads out of the workspace", "name what is in it")
