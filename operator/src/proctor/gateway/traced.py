"""Whether calls are traced, and by what. OpenTelemetry is loaded only when they are."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from proctor.api.errors import UserError
from proctor.gateway.watch import Watch

_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


@dataclass(frozen=True, slots=True)
class TraceTarget:
    """Where traces go.

    Args:
        endpoint: URL that they are posted to, such as ``http://collector:4318/v1/traces``; None:
            as the environment says.
        headers: Sent with them.
    """

    endpoint: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def target_of(
    environment: Mapping[str, str], configured: TraceTarget | None = None
) -> TraceTarget | None:
    """The configured one, else that of OpenTelemetry's own variables; None: nothing is traced."""
    if configured is not None or environment.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return configured
    return TraceTarget() if any(environment.get(name) for name in _VARIABLES) else None


@asynccontextmanager
async def traced(watch: Watch, target: TraceTarget | None) -> AsyncIterator[Watch]:
    """The watch, or one around it that makes spans.

    Raises:
        UserError: When calls are to be traced and OpenTelemetry is not installed.
    """
    if target is None:
        yield watch
        return
    try:
        from proctor.gateway.tracing import tracing
    except ImportError as error:
        raise UserError(f"traces need OpenTelemetry: install proctor[otlp] ({error})") from None
    async with tracing(watch, target.endpoint, target.headers) as made:
        yield made
