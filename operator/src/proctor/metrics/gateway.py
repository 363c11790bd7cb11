"""Prometheus series of the gateway. Labels are bounded: no trial, run or pod, and known models."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from proctor.api.usage import Usage

_BUCKETS = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call that is over.

    Args:
        model: From a bounded set.
        status: HTTP status of the answer; None: there was none.
        usage: None when it was not measured.
        spent_usd: US dollars; None when unknown, or when nobody paid (scripted answers).
    """

    namespace: str
    provider: str
    model: str
    status: int | None
    seconds: float
    usage: Usage | None
    spent_usd: Decimal | None


@dataclass(frozen=True, slots=True)
class _Series:
    calls: Counter
    seconds: Histogram
    tokens: Mapping[str, Counter]


class GatewayMetrics:
    """The series, in a registry of one's own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._registry = registry = registry or CollectorRegistry()
        self._series: dict[tuple[str, ...], _Series] = {}
        of_call = ("namespace", "provider", "model")
        self._calls = Counter(
            "proctor_gateway_calls_total",
            "Model calls that are over, by class of HTTP status (none: there was no answer).",
            [*of_call, "status"],
            registry=registry,
        )
        self._seconds = Histogram(
            "proctor_gateway_call_duration_seconds",
            "Time from a call's arrival to the last byte of its answer.",
            ["provider", "model"],
            buckets=_BUCKETS,
            registry=registry,
        )
        self._tokens = Counter(
            "proctor_gateway_tokens_total",
            "Tokens by kind: input, output, cache_read, cache_write.",
            [*of_call, "kind"],
            registry=registry,
        )
        self._cost = Counter(
            "proctor_gateway_cost_usd_total",
            "US dollars spent on calls that have a price; scripted answers cost nothing.",
            of_call,
            registry=registry,
        )
        self._refusals = Counter(
            "proctor_gateway_refusals_total",
            "Calls that the gateway refused, by limit.",
            ["namespace", "limit"],
            registry=registry,
        )
        self._lost = Counter(
            "proctor_gateway_ledger_errors_total",
            "Calls whose end could not be written to the ledger.",
            registry=registry,
        )
        self._open = Gauge(
            "proctor_gateway_open_calls", "Model calls that are under way.", registry=registry
        )

    def started(self) -> None:
        """A call is under way."""
        self._open.inc()

    def ended(self, call: ModelCall) -> None:
        """A call is over."""
        status = "none" if call.status is None else f"{call.status // 100}xx"
        self._open.dec()
        series = self._series_of(call.namespace, call.provider, call.model, status)
        series.calls.inc()
        series.seconds.observe(call.seconds)
        if call.usage is not None:
            for kind, tokens in series.tokens.items():
                tokens.inc(getattr(call.usage, kind))
        if call.spent_usd is not None:
            self._cost.labels(call.namespace, call.provider, call.model).inc(float(call.spent_usd))

    def _series_of(self, *labels: str) -> _Series:
        """The series of namespace, provider, model and status, looked up once."""
        known = self._series.get(labels)
        if known is None:
            *of_call, _ = labels
            known = self._series[labels] = _Series(
                calls=self._calls.labels(*labels),
                seconds=self._seconds.labels(*of_call[1:]),
                tokens={kind: self._tokens.labels(*of_call, kind) for kind in Usage.__slots__},
            )
        return known

    def lost(self) -> None:
        """A call is over, and its end could not be written down."""
        self._open.dec()
        self._lost.inc()

    def refused(self, namespace: str, limit: str) -> None:
        """A call was not allowed."""
        self._refusals.labels(namespace, limit).inc()

    def scrape(self) -> tuple[bytes, str]:
        """All series, and the type of that text."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
