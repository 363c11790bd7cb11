"""Series of model calls, added up as plain numbers and made into samples when somebody scrapes.

A call changes nine samples, and a client library's own counters take a lock for each: together a
tenth of what the gateway does for a call.
"""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import accumulate

from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from proctor.api.usage import Usage

_BUCKETS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 60.0, 120.0, 300.0, 600.0)
_OF_CALL = ("namespace", "provider", "model")


class CallTotals:
    """All calls of one namespace, provider and model that are over.

    Attributes:
        spent_usd: None until one of them was paid for.
    """

    def __init__(self) -> None:
        self.by_status: dict[str, int] = {}
        self.in_bucket = [0] * (len(_BUCKETS) + 1)
        self.seconds = 0.0
        self.usage: Usage | None = None
        self.spent_usd: Decimal | None = None

    def add(self, status: int | None, seconds: float) -> None:
        """Add a call; ``status`` is the answer's, None: there was none."""
        name = "none" if status is None else f"{status // 100}xx"
        self.by_status[name] = self.by_status.get(name, 0) + 1
        self.in_bucket[bisect_left(_BUCKETS, seconds)] += 1
        self.seconds += seconds


class ModelCalls(Collector):
    """The totals by namespace, provider and model, and how many calls are open."""

    def __init__(self) -> None:
        self.open = 0
        self._totals: dict[tuple[str, str, str], CallTotals] = {}

    def of(self, namespace: str, provider: str, model: str) -> CallTotals:
        """The totals to add to."""
        key = (namespace, provider, model)
        totals = self._totals.get(key)
        if totals is None:
            totals = self._totals[key] = CallTotals()
        return totals

    def collect(self) -> Iterator[Metric]:
        """All samples as they stand."""
        yield self._calls()
        yield self._durations()
        yield self._tokens()
        yield self._cost()
        yield GaugeMetricFamily(
            "proctor_gateway_open_calls", "Model calls that are under way.", self.open
        )

    def _calls(self) -> Metric:
        calls = CounterMetricFamily(
            "proctor_gateway_calls",
            "Model calls that are over, by class of HTTP status (none: there was no answer).",
            labels=[*_OF_CALL, "status"],
        )
        for key, totals in self._totals.items():
            for status, number in totals.by_status.items():
                calls.add_metric([*key, status], number)
        return calls

    def _durations(self) -> Metric:
        seconds = HistogramMetricFamily(
            "proctor_gateway_call_duration_seconds",
            "Time from a call's arrival to the last byte of its answer.",
            labels=_OF_CALL[1:],
        )
        bounds = [*map(str, _BUCKETS), "+Inf"]
        for key, several in self._by_model().items():
            numbers = accumulate(map(sum, zip(*(one.in_bucket for one in several), strict=True)))
            sums = sum(one.seconds for one in several)
            seconds.add_metric(key, list(zip(bounds, numbers, strict=True)), sum_value=sums)
        return seconds

    def _by_model(self) -> Mapping[tuple[str, ...], Sequence[CallTotals]]:
        """Those of all namespaces together: a histogram has many samples."""
        found: dict[tuple[str, ...], list[CallTotals]] = {}
        for key, totals in self._totals.items():
            found.setdefault(key[1:], []).append(totals)
        return found

    def _tokens(self) -> Metric:
        tokens = CounterMetricFamily(
            "proctor_gateway_tokens",
            "Tokens by kind: input, output, cache_read, cache_write.",
            labels=[*_OF_CALL, "kind"],
        )
        for key, totals in self._totals.items():
            if totals.usage is not None:
                for kind in Usage.__slots__:
                    tokens.add_metric([*key, kind], getattr(totals.usage, kind))
        return tokens

    def _cost(self) -> Metric:
        cost = CounterMetricFamily(
            "proctor_gateway_cost_usd",
            "US dollars spent on calls that have a price; scripted answers cost nothing.",
            labels=_OF_CALL,
        )
        for key, totals in self._totals.items():
            if totals.spent_usd is not None:
                cost.add_metric(key, float(totals.spent_usd))
        return cost
