"""Prometheus series of the gateway. Labels are bounded: no trial, run or pod, and known models."""

from dataclasses import dataclass
from decimal import Decimal

from prometheus_client import CollectorRegistry, Counter, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from proctor.api.usage import Usage
from proctor.metrics.model_calls import ModelCalls


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


class GatewayMetrics:
    """The series, in a registry of one's own; for one thread."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._registry = registry = registry or CollectorRegistry()
        self._calls = ModelCalls()
        registry.register(self._calls)
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

    def started(self) -> None:
        """A call is under way."""
        self._calls.open += 1

    def ended(self, call: ModelCall) -> None:
        """A call is over."""
        self._calls.open -= 1
        totals = self._calls.of(call.namespace, call.provider, call.model)
        totals.add(call.status, call.seconds)
        if call.usage is not None:
            totals.usage = call.usage if totals.usage is None else totals.usage + call.usage
        if call.spent_usd is not None:
            totals.spent_usd = call.spent_usd + (totals.spent_usd or 0)

    def lost(self) -> None:
        """A call is over, and its end could not be written down."""
        self._calls.open -= 1
        self._lost.inc()

    def refused(self, namespace: str, limit: str) -> None:
        """A call was not allowed."""
        self._refusals.labels(namespace, limit).inc()

    def scrape(self) -> tuple[bytes, str]:
        """All series, and the type of that text."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
