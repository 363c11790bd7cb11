"""The operator's series. Ids are never labels; money that was scripted is never spent money.

Counters move when a trial's status has been written, so they miss what happens while the operator
is down; gauges of runs are set anew from the statuses after every start.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.run_status import EvalRunStatus
from proctor.metrics.runs import RunGauges

_BUCKETS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)
_TRIAL = ("namespace", "suite", "agent", "model", "variant")


@dataclass(frozen=True, slots=True)
class TrialLabels:
    """What a trial's series are told apart by; ``model`` is None for the agent's own choice."""

    namespace: str
    suite: str
    agent: str
    model: str | None
    variant: str

    def values(self) -> dict[str, str]:
        """As Prometheus labels."""
        return {
            "namespace": self.namespace,
            "suite": self.suite,
            "agent": self.agent,
            "model": self.model or "",
            "variant": self.variant,
        }


class OperatorMetrics:
    """All series of the operator, in ``registry``."""

    def __init__(self, registry: CollectorRegistry, version: str) -> None:
        self._registry = registry
        self.runs = RunGauges(registry)
        self._trials = _counter(
            "proctor_trials", "Trials that ended.", (*_TRIAL, "outcome"), registry
        )
        self._seconds = Histogram(
            "proctor_trial_duration_seconds",
            "Wall time of one stage of a trial: queue, agent, checks or grade.",
            ("agent", "stage"),
            buckets=_BUCKETS,
            registry=registry,
        )
        self._cost = _counter(
            "proctor_trial_cost_usd", "US dollars spent on model calls.", _TRIAL, registry
        )
        self._scripted = _counter(
            "proctor_trial_scripted_cost_usd",
            "US dollars that scripted answers would have cost. Never spent.",
            _TRIAL,
            registry,
        )
        self._unknown = _counter(
            "proctor_trials_cost_incomplete",
            "Trials whose cost is unknown or a floor.",
            _TRIAL,
            registry,
        )
        self._tokens = _counter(
            "proctor_tokens", "Tokens by kind, scripted ones too.", (*_TRIAL, "kind"), registry
        )
        self._infra = _counter(
            "proctor_infra_failures",
            "Attempts that were lost and followed by another one.",
            ("reason",),
            registry,
        )
        self._passes = Histogram(
            "proctor_reconcile_duration_seconds",
            "One pass over a run.",
            buckets=(0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30),
            registry=registry,
        )
        self._errors = _counter("proctor_reconcile_errors", "Passes that failed.", (), registry)
        self._requests = _counter(
            "proctor_api_requests", "Requests to the API server.", ("verb", "code"), registry
        )
        self._restarts = _counter(
            "proctor_watch_restarts", "Lists that began a watch.", ("kind",), registry
        )
        self._pending = Gauge(
            "proctor_pods_pending", "Trial pods whose agent has not started.", registry=registry
        )
        info = Gauge("proctor_build_info", "Always 1.", ("version",), registry=registry)
        info.labels(version).set(1)

    @classmethod
    def of_process(cls, version: str) -> Self:
        """In a registry of their own, beside memory and CPU of this process."""
        registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        return cls(registry, version)

    def exposition(self) -> bytes:
        """All series in Prometheus' text format."""
        return generate_latest(self._registry)

    def trial_recorded(self, labels: TrialLabels, status: EvalTrialStatus) -> None:
        """A trial has ended and its status was written: once for each trial."""
        values = labels.values()
        self._trials.labels(**values, outcome=status.outcome or "").inc()
        if status.cost_usd is not None:
            self._cost.labels(**values).inc(float(status.cost_usd))
        if status.scripted_cost_usd is not None:
            self._scripted.labels(**values).inc(float(status.scripted_cost_usd))
        if not status.cost_complete:
            self._unknown.labels(**values).inc()
        for kind in type(status.tokens).model_fields:
            self._tokens.labels(**values, kind=kind).inc(getattr(status.tokens, kind))
        for stage in type(status.seconds).model_fields:
            seconds = getattr(status.seconds, stage)
            if seconds is not None:
                self._seconds.labels(labels.agent, stage).observe(float(seconds))

    def attempt_closed(self, reason: str) -> None:
        """An attempt was lost, and another one follows."""
        self._infra.labels(reason).inc()

    def run_seen(self, namespace: str, name: str, suite: str, status: EvalRunStatus) -> None:
        """What a run's status says now."""
        self.runs.set(namespace, name, suite, status)

    def run_gone(self, namespace: str, name: str) -> None:
        """A run was deleted: its series go with it."""
        self.runs.drop(namespace, name)

    def pass_ended(self, seconds: float, *, failed: bool) -> None:
        """A pass over a run took ``seconds``."""
        self._passes.observe(seconds)
        if failed:
            self._errors.inc()

    def api_request(self, verb: str, code: str) -> None:
        """A request was answered with ``code``, or with ``error`` not at all."""
        self._requests.labels(verb, code).inc()

    def watch_restarted(self, kind: str) -> None:
        """A kind was listed."""
        self._restarts.labels(kind).inc()

    def count_pending(self, count: Callable[[], float]) -> None:
        """Ask ``count`` for the number of waiting pods at every scrape."""
        self._pending.set_function(count)


def _counter(name: str, text: str, labels: tuple[str, ...], registry: CollectorRegistry) -> Counter:
    return Counter(name, text, labels, registry=registry)
