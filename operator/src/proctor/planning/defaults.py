"""What holds when no layer says anything, and its line in the lineage."""

from proctor.api.egress import Egress, EgressMode
from proctor.api.task import (
    DEFAULT_GRADE_TIMEOUT_SECONDS,
    DEFAULT_TASK_TIMEOUT_SECONDS,
    DEFAULT_TURN_TIMEOUT_SECONDS,
    Limits,
    Resources,
    Sandbox,
)
from proctor.planning.layers import DEFAULT, Settings

DEFAULT_LIMITS = {
    "task_timeout_seconds": DEFAULT_TASK_TIMEOUT_SECONDS,
    "turn_timeout_seconds": DEFAULT_TURN_TIMEOUT_SECONDS,
    "grade_timeout_seconds": DEFAULT_GRADE_TIMEOUT_SECONDS,
}
DEFAULT_RESOURCES = {"cpu": "1", "memory": "2Gi", "ephemeral_storage": "4Gi"}


def timeouts(limits: Limits) -> dict[str, int]:
    """The three timeouts in seconds, by the names that ``Cell`` gives them."""
    return {
        name: default if (written := getattr(limits, name)) is None else written
        for name, default in DEFAULT_LIMITS.items()
    }


def full_resources(resources: Resources | None) -> Resources:
    """Resources with every field set."""
    written = resources.model_dump(exclude_none=True) if resources else {}
    return Resources(**{**DEFAULT_RESOURCES, **written})


def egress_of(sandbox: Sandbox) -> Egress:
    """What a trial may reach."""
    return sandbox.egress or Egress(mode=EgressMode.MODEL_ONLY)


def default_lineage(settings: Settings) -> dict[str, str]:
    """``default`` for each field that nobody wrote and that has one."""
    limits = [f"limits.{Limits.model_fields[name].alias}" for name in DEFAULT_LIMITS]
    resources = [
        f"sandbox.resources.{Resources.model_fields[name].alias}" for name in DEFAULT_RESOURCES
    ]
    paths = (*limits, *resources, "sandbox.egress.mode")
    return {path: DEFAULT for path in paths if path not in settings.lineage}
