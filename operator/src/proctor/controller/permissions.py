"""What an installation must allow before a run may ask for it (pure)."""

from collections.abc import Iterator

from proctor.api.container import SandboxUser
from proctor.api.errors import Problem
from proctor.controller.settings import TrialSettings
from proctor.planning.model import Cell, RunPlan


def permission_problems(plan: RunPlan, settings: TrialSettings) -> Iterator[Problem]:
    """What the run asks for and this installation does not give."""
    tasks = sorted({c.task for c in plan.cells.values() if c.user is SandboxUser.IMAGE})
    if tasks and not settings.allow_image_user:
        yield Problem(
            "sandbox.user",
            f"{_named(tasks)} asks for user Image, and this installation does not allow it",
            "use NonRoot, or set the chart's value trials.allowImageUser to true "
            "(its namespace must admit pods of PodSecurity level baseline)",
        )
    most = settings.max_record_mib
    if most is not None:
        yield from _artifact_problems(plan, most)


def _artifact_problems(plan: RunPlan, most: int) -> Iterator[Problem]:
    """A record with such artifacts would be refused when its trial has run."""
    wanted = {(cell.task, _artifacts_mib(cell)) for cell in plan.cells.values()}
    above = sorted((task, mib) for task, mib in wanted if mib > most)
    if above:
        yield Problem(
            "sandbox.artifacts.maxMiB",
            f"{_named(sorted({task for task, _ in above}))} keeps up to {above[0][1]} MiB of "
            f"artifacts, and the results server takes records of {most} MiB (the chart's value "
            "results.maxFolderMiB)",
            f"set maxMiB below {most}, or raise results.maxFolderMiB",
        )


def _artifacts_mib(cell: Cell) -> int:
    kept = cell.orders.grade.artifacts
    return 0 if kept is None else kept.max_bytes >> 20


def _named(tasks: list[str]) -> str:
    more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
    return f"task {tasks[0]!r}{more}"
