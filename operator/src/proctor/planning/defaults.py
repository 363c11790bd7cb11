"""What holds when no layer says anything, and its line in the lineage."""

from collections.abc import Mapping

from proctor.api.container import ChecksPlace, Resources, SandboxUser, Service
from proctor.api.egress import Egress, EgressMode
from proctor.api.task import (
    DEFAULT_GRADE_TIMEOUT_SECONDS,
    DEFAULT_TASK_TIMEOUT_SECONDS,
    DEFAULT_TURN_TIMEOUT_SECONDS,
    Limits,
    Sandbox,
)
from proctor.planning.layers import DEFAULT, Settings

DEFAULT_LIMITS = {
    "task_timeout_seconds": DEFAULT_TASK_TIMEOUT_SECONDS,
    "turn_timeout_seconds": DEFAULT_TURN_TIMEOUT_SECONDS,
    "grade_timeout_seconds": DEFAULT_GRADE_TIMEOUT_SECONDS,
}
READY_TIMEOUT_SECONDS = 120
SERVICE_RESOURCES = {"cpu": "500m", "memory": "512Mi", "ephemeral_storage": "1Gi"}
DEFAULT_RESOURCES = {"cpu": "1", "memory": "2Gi", "ephemeral_storage": "4Gi"}


def timeouts(limits: Limits) -> dict[str, int]:
    """The three timeouts in seconds, by the names that ``Cell`` gives them."""
    return {
        name: default if (written := getattr(limits, name)) is None else written
        for name, default in DEFAULT_LIMITS.items()
    }


def full_resources(resources: Resources | None) -> Resources:
    """Resources with every field set."""
    return _filled(resources, DEFAULT_RESOURCES)


def full_service(service: Service) -> Service:
    """A service with everything set."""
    filled = _filled(service.resources, SERVICE_RESOURCES)
    seconds = service.ready_timeout_seconds or READY_TIMEOUT_SECONDS
    return service.model_copy(update={"resources": filled, "ready_timeout_seconds": seconds})


def _filled(resources: Resources | None, defaults: Mapping[str, str]) -> Resources:
    written = resources.model_dump(exclude_none=True) if resources else {}
    return Resources(**{**defaults, **written})


def user_of(settings: Settings) -> SandboxUser:
    """Which user the task's containers run as."""
    return settings.sandbox.user or SandboxUser.NON_ROOT


def checks_place(settings: Settings) -> ChecksPlace:
    """Where commands of criteria run."""
    return settings.sandbox.checks or ChecksPlace.SEPARATE


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
