"""Model calls as OpenTelemetry spans, exported by OTLP over HTTP from a thread of its own.

An exporter that fails loses spans and disturbs no call. The only module that knows OpenTelemetry's
SDK, which is an extra: ``pip install proctor[otlp]``.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)
from opentelemetry.util.types import AttributeValue

from proctor import __version__
from proctor.gateway import tracing_names as names
from proctor.gateway.account import Account
from proctor.gateway.events import CallEnded, CallOpened
from proctor.gateway.ledger import OpenCall
from proctor.gateway.limits import Refusal
from proctor.gateway.trace_context import TraceContext, trace_context
from proctor.gateway.watch import Watch

_TIMEOUT_SECONDS = 10
_FLUSH_MILLISECONDS = 5000
_MOST_WAITING = 4096
"""Spans that wait to be exported; further ones are dropped."""


class Tracing:
    """A ``Watch`` that tells another one too.

    Args:
        watch: The other one.
        exporter: Where spans go.
    """

    def __init__(self, watch: Watch, exporter: SpanExporter) -> None:
        self._watch = watch
        resource = Resource.create(
            {"service.name": "proctor-gateway", "service.version": __version__}
        )
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(
            BatchSpanProcessor(
                exporter,
                max_queue_size=_MOST_WAITING,
                schedule_delay_millis=1000,
            )
        )
        self._tracer = self._provider.get_tracer("proctor.gateway", __version__)

    def started(self, call: OpenCall) -> None:
        """Only the other one is told: a span is made when its end is known."""
        self._watch.started(call)

    def ended(self, call: OpenCall, ended: CallEnded) -> None:
        """Make the span of a call."""
        self._watch.ended(call, ended)
        opened = call.opened
        operation, _ = names.FLAVOURS[opened.wire_format]
        span = self._tracer.start_span(
            f"{operation} {opened.model}",
            context=set_span_in_context(_parent(trace_context(call.account))),
            kind=SpanKind.CLIENT,
            attributes={**_about(call.account, opened), **_figures(ended)},
            start_time=_nanoseconds(opened.at),
        )
        error = _error_type(ended)
        if error is not None:
            span.set_attribute(names.ERROR_TYPE, error)
            span.set_status(Status(StatusCode.ERROR, ended.provider_failure or ""))
        span.end(_nanoseconds(ended.at))

    def refused(self, account: Account, refusal: Refusal) -> None:
        """Only the other one is told: nothing was called."""
        self._watch.refused(account, refusal)

    def failed(self, call: OpenCall, error: Exception) -> None:
        """Only the other one is told."""
        self._watch.failed(call, error)

    async def close(self) -> None:
        """Export what waits, for a few seconds at most."""
        await asyncio.to_thread(self._provider.force_flush, _FLUSH_MILLISECONDS)
        await asyncio.to_thread(self._provider.shutdown)


@asynccontextmanager
async def tracing(
    watch: Watch, endpoint: str | None, headers: Mapping[str, str]
) -> AsyncIterator[Tracing]:
    """Trace for as long as the context lasts.

    Args:
        watch: Is told of calls too.
        endpoint: URL that traces are posted to; None: as the environment's ``OTEL_EXPORTER_OTLP_*``
            variables say.
        headers: Sent with them.
    """
    logging.getLogger("opentelemetry").setLevel(logging.ERROR)
    exporter = OTLPSpanExporter(
        endpoint=endpoint, headers=dict(headers) or None, timeout=_TIMEOUT_SECONDS
    )
    made = Tracing(watch, exporter)
    try:
        yield made
    finally:
        await made.close()


def _parent(context: TraceContext) -> NonRecordingSpan:
    flags = TraceFlags(TraceFlags.SAMPLED if context.is_sampled else TraceFlags.DEFAULT)
    return NonRecordingSpan(
        SpanContext(context.trace_id, context.span_id, is_remote=True, trace_flags=flags)
    )


def _about(account: Account, opened: CallOpened) -> dict[str, AttributeValue]:
    operation, provider = names.FLAVOURS[opened.wire_format]
    return {
        names.OPERATION: operation,
        names.PROVIDER: provider,
        names.REQUEST_MODEL: opened.model,
        names.PROVIDER_CONFIGURED: opened.provider,
        names.NAMESPACE: account.namespace,
        names.RUN_UID: opened.run_uid,
        names.TRIAL_UID: opened.trial_uid,
        names.TRIAL: account.label,
        names.ATTEMPT: opened.attempt,
        names.ROLE: opened.role,
        names.MODE: opened.mode,
    }


def _figures(ended: CallEnded) -> dict[str, AttributeValue]:
    """What is known of the answer; what is not has no attribute."""
    found: dict[str, AttributeValue] = {}
    if ended.status is not None:
        found[names.STATUS_CODE] = ended.status
    if ended.stop_reason is not None:
        found[names.FINISH_REASONS] = [ended.stop_reason]
    if ended.tools:
        found[names.TOOLS] = list(ended.tools)
    if ended.cost_usd is not None:
        found[names.COST_USD] = float(ended.cost_usd)
    usage = ended.usage
    if usage is not None:
        found[names.INPUT_TOKENS] = usage.input + usage.cache_read + usage.cache_write
        found[names.OUTPUT_TOKENS] = usage.output
        found[names.CACHE_READ_TOKENS] = usage.cache_read
        found[names.CACHE_WRITE_TOKENS] = usage.cache_write
    if ended.details.reasoning:
        found[names.REASONING_TOKENS] = ended.details.reasoning
    return found


def _error_type(ended: CallEnded) -> str | None:
    if ended.status is None:
        return names.UNANSWERED
    failed = ended.status >= 400 or ended.provider_failure is not None
    return str(ended.status) if failed else None


def _nanoseconds(at: datetime) -> int:
    return int(at.timestamp() * 1_000_000) * 1000
