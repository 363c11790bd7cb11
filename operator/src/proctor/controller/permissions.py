"""What an installation must allow before a run may ask for it (pure)."""

from collections.abc import Iterator

from proctor.api.container import SandboxUser
from proctor.api.errors import Problem
from proctor.controller.settings import TrialSettings
from proctor.planning.model import RunPlan


def permission_problems(plan: RunPlan, settings: TrialSettings) -> Iterator[Problem]:
    """What the run asks for and this installation does not give."""
    tasks = sorted({c.task for c in plan.cells.values() if c.user is SandboxUser.IMAGE})
    if tasks and not settings.allow_image_user:
        more = f" and {len(tasks) - 1} more" if len(tasks) > 1 else ""
        yield Problem(
            "sandbox.user",
            f"task {tasks[0]!r}{more} asks for user Image, and this installation does not allow it",
            "use NonRoot, or set the chart's value trials.allowImageUser to true "
            "(its namespace must admit pods of PodSecurity level baseline)",
        )
