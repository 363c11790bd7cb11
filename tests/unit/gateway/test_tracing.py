"""Model calls as spans: by the conventions, in the trial's trace, and never in the way."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from decimal import Decimal

import anthropic
import pytest
import pytest_asyncio
from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from builders_gateway import HELLO, MODEL, MORNING, a_ledger, an_account, prices
from proctor.api.errors import SpecError
from proctor.api.usage import Usage, UsageDetails
from proctor.gateway.account import Account
from proctor.gateway.config import read_config
from proctor.gateway.embed import LocalGateway
from proctor.gateway.ledger import Ask, Ending, OpenCall
from proctor.gateway.trace_context import TraceContext, derived, parsed, trace_context
from proctor.gateway.traced import TraceTarget, target_of
from proctor.gateway.tracing import Tracing
from proctor.gateway.watch import NoWatch
from proctor.wire.format import Reading

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


async def span_of(
    account: Account, ending: Ending, wire_format: str = "openai-chat"
) -> ReadableSpan:
    ledger, exporter = a_ledger(), InMemorySpanExporter()
    tracing = Tracing(NoWatch(), exporter)
    call = ledger.open_call(account, Ask(MODEL, "mine", wire_format, account.role))
    assert isinstance(call, OpenCall)
    tracing.started(call)
    tracing.ended(call, ledger.end_call(call, ending))
    await tracing.close()
    (span,) = exporter.get_finished_spans()
    return span


READ = Reading(
    usage=Usage(input=100, output=20, cache_read=7, cache_write=3),
    details=UsageDetails(reasoning=5),
    complete=True,
    stop_reason="tool_calls",
    tools=("write",),
)


async def test_a_call_is_a_span_by_the_conventions() -> None:
    account = replace(an_account(), label="hello/base/0", run_uid="run-1", namespace="team")
    span = await span_of(account, Ending(200, READ))
    assert (span.name, span.kind) == (f"chat {MODEL}", SpanKind.CLIENT)
    assert dict(span.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": MODEL,
        "gen_ai.response.finish_reasons": ("tool_calls",),
        "gen_ai.usage.input_tokens": 110,
        "gen_ai.usage.output_tokens": 20,
        "gen_ai.usage.cache_read.input_tokens": 7,
        "gen_ai.usage.cache_creation.input_tokens": 3,
        "gen_ai.usage.reasoning.output_tokens": 5,
        "http.response.status_code": 200,
        "k8s.namespace.name": "team",
        "proctor.cost_usd": float(Decimal("0.00031")),
        "proctor.models.mode": "Live",
        "proctor.provider": "mine",
        "proctor.role": "agent",
        "proctor.run.uid": "run-1",
        "proctor.tools": ("write",),
        "proctor.trial.attempt": 1,
        "proctor.trial.name": "hello/base/0",
        "proctor.trial.uid": "trial-1",
    }
    assert span.status.status_code is StatusCode.UNSET
    assert span.start_time == span.end_time == int(MORNING.timestamp() * 1e9)


async def test_geminis_calls_are_named_as_its_api_names_them() -> None:
    span = await span_of(an_account(), Ending(200), "gemini")
    assert span.name == f"generate_content {MODEL}"
    assert (span.attributes or {})["gen_ai.provider.name"] == "gcp.gemini"


@pytest.mark.parametrize(
    ("ending", "error"),
    [
        pytest.param(Ending(529, provider_failure="overloaded"), "529", id="a status"),
        pytest.param(Ending(None, provider_failure="no answer"), "unanswered", id="no answer"),
        pytest.param(Ending(200, provider_failure="broke off"), "200", id="a stream that broke"),
    ],
)
async def test_a_failed_call_says_what_it_was(ending: Ending, error: str) -> None:
    span = await span_of(an_account(), ending)
    assert (span.attributes or {})["error.type"] == error
    assert (span.status.status_code, span.status.description) == (
        StatusCode.ERROR,
        ending.provider_failure,
    )


async def test_a_call_belongs_to_the_trace_that_its_trial_names() -> None:
    span = await span_of(replace(an_account(), traceparent=PARENT), Ending(200))
    assert span.parent is not None
    assert f"{span.parent.trace_id:032x}" == "0af7651916cd43dd8448eb211c80319c"
    assert f"{span.parent.span_id:016x}" == "b7ad6b7169203331"


async def test_all_calls_of_an_attempt_share_a_trace() -> None:
    first = await span_of(an_account(), Ending(200))
    second = await span_of(replace(an_account(), role="judge"), Ending(200))
    other = await span_of(replace(an_account(), attempt=2), Ending(200))
    traces = [span.context.trace_id for span in (first, second, other) if span.context]
    assert traces[0] == traces[1] != traces[2]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(PARENT, TraceContext(0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331)),
        pytest.param(
            PARENT[:-2] + "00",
            TraceContext(0x0AF7651916CD43DD8448EB211C80319C, 0xB7AD6B7169203331, False),
        ),
        pytest.param("", None),
        pytest.param("00-xyz", None),
        pytest.param("ff" + PARENT[2:], None),
        pytest.param(f"00-{'0' * 32}-b7ad6b7169203331-01", None),
    ],
    ids=["sampled", "not sampled", "empty", "nonsense", "no version", "no trace"],
)
def test_a_traceparent_is_read_as_w3c_says(text: str, found: TraceContext | None) -> None:
    assert parsed(text) == found


def test_a_broken_traceparent_is_as_none() -> None:
    account = replace(an_account(), traceparent="nonsense")
    assert trace_context(account) == derived("trial-1", 1)


@pytest.mark.parametrize(
    ("environment", "traced"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, True, id="endpoint"),
        pytest.param({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c"}, True, id="of traces"),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "true"},
            False,
            id="switched off",
        ),
    ],
)
def test_opentelemetrys_own_variables_switch_it_on(
    environment: dict[str, str], traced: bool
) -> None:
    assert (target_of(environment) is not None) == traced


def test_the_configuration_names_endpoint_and_headers() -> None:
    text = "tracing: {otlpEndpoint: 'http://c:4318/v1/traces', headersEnv: {x-key: KEY, y: NONE}}"
    target = read_config(text, "f").trace_target({"KEY": "secret"})
    assert target == TraceTarget("http://c:4318/v1/traces", {"x-key": "secret"})
    with pytest.raises(SpecError, match="tracing"):
        read_config("tracing: {otlpEndpoint: c}", "f")


@pytest_asyncio.fixture
async def collector() -> AsyncIterator[tuple[str, list[bytes]]]:
    bodies: list[bytes] = []

    async def take(http: web.Request) -> web.Response:
        bodies.append(await http.read())
        return web.Response()

    app = web.Application()
    app.router.add_post("/v1/traces", take)
    async with TestServer(app) as server:
        yield str(server.make_url("/v1/traces")), bodies


async def ask(target: TraceTarget) -> Sequence[object]:
    async with LocalGateway(prices=prices(), traces=target) as gateway:
        key = gateway.admit(an_account(HELLO)).agent
        async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key=key) as client:
            message = await client.messages.create(
                model=MODEL, max_tokens=9, messages=[{"role": "user", "content": "Hello"}]
            )
    return message.content


async def test_spans_are_posted_to_a_collector(collector: tuple[str, list[bytes]]) -> None:
    url, bodies = collector
    await ask(TraceTarget(url))
    (body,) = bodies
    assert b"gen_ai.request.model" in body
    assert MODEL.encode() in body


async def test_a_collector_that_is_gone_disturbs_no_call() -> None:
    assert await ask(TraceTarget("http://127.0.0.1:9/v1/traces"))
