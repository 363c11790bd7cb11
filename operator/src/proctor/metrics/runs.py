"""Gauges of runs: what their statuses say, as long as they exist."""

from collections import Counter as Tally

from prometheus_client import CollectorRegistry, Gauge

from proctor.api.conditions import ConditionType
from proctor.api.run_status import EvalRunStatus, VariantStatus

Key = tuple[str, str]
"""Namespace and name of a run."""

_RUN = ("namespace", "evalrun", "suite")
_VARIANT = (*_RUN, "variant", "agent", "model")


class RunGauges:
    """Series with a run's name expire with the run; scores that were not measured have none."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._states: dict[Key, str] = {}
        self._labels: dict[Key, set[tuple[Gauge, tuple[str, ...]]]] = {}
        self._runs = Gauge("proctor_runs", "Runs by state.", ("status",), registry=registry)

        def gauge(name: str, text: str, labels: tuple[str, ...]) -> Gauge:
            return Gauge(name, text, labels, registry=registry)

        self._score = gauge("proctor_run_score", "Mean score of scored trials.", _RUN)
        self._passed = gauge("proctor_run_pass_ratio", "Passed of scored trials.", _RUN)
        self._completed = gauge("proctor_run_completion_ratio", "Scored of all trials.", _RUN)
        self._cost = gauge("proctor_run_cost_usd", "US dollars spent.", _RUN)
        self._spending = gauge(
            "proctor_run_spending_usd", "US dollars spent so far, trials that run included.", _RUN
        )
        self._used_up = gauge(
            "proctor_run_budget_exceeded", "1 for a run whose budget is used up.", _RUN
        )
        self._scripted = gauge(
            "proctor_run_scripted_cost_usd", "What scripted answers would have cost.", _RUN
        )
        self._trials = gauge("proctor_run_trials", "Trials by state.", (*_RUN, "state"))
        self._variant_score = gauge(
            "proctor_run_variant_score", "Mean score of a variant's scored trials.", _VARIANT
        )
        self._variant_passed = gauge(
            "proctor_run_variant_pass_ratio", "Passed of a variant's scored trials.", _VARIANT
        )
        self._variant_cost = gauge(
            "proctor_run_variant_cost_usd", "US dollars spent on a variant.", _VARIANT
        )
        self._variant_scripted = gauge(
            "proctor_run_variant_scripted_cost_usd",
            "What a variant's scripted answers would have cost.",
            _VARIANT,
        )

    def set(self, namespace: str, name: str, suite: str, status: EvalRunStatus) -> None:
        """Say what the run's status says, and no longer what it said before."""
        key = (namespace, name)
        before = self._labels.get(key, set())
        self._labels[key] = set()
        run = (namespace, name, suite)
        self._one(key, self._score, run, status.score)
        self._one(key, self._passed, run, status.pass_ratio)
        self._one(key, self._completed, run, status.completion_ratio)
        self._one(key, self._cost, run, status.cost_usd)
        self._one(key, self._spending, run, status.spending and status.spending.cost_usd)
        self._one(key, self._used_up, run, _used_up(status))
        self._one(key, self._scripted, run, status.scripted_cost_usd)
        for state in type(status.trials).model_fields:
            if state != "total":
                self._one(key, self._trials, (*run, state), getattr(status.trials, state))
        for variant in status.variants:
            self._variant(key, (*run, variant.name, variant.agent, variant.model or ""), variant)
        for gauge, labels in before - self._labels[key]:
            gauge.remove(*labels)
        self._state(key, status.state or "Pending")

    def drop(self, namespace: str, name: str) -> None:
        """Forget a run."""
        key = (namespace, name)
        for gauge, labels in self._labels.pop(key, set()):
            gauge.remove(*labels)
        self._state(key, None)

    def _variant(self, key: Key, labels: tuple[str, ...], variant: VariantStatus) -> None:
        self._one(key, self._variant_score, labels, variant.score)
        self._one(key, self._variant_passed, labels, variant.pass_ratio)
        self._one(key, self._variant_cost, labels, variant.cost_usd)
        self._one(key, self._variant_scripted, labels, variant.scripted_cost_usd)

    def _one(self, key: Key, gauge: Gauge, labels: tuple[str, ...], value: object) -> None:
        if value is None:
            return
        gauge.labels(*labels).set(float(str(value)))
        self._labels[key].add((gauge, labels))

    def _state(self, key: Key, state: str | None) -> None:
        if self._states.get(key) == state:
            return
        if state is None:
            self._states.pop(key, None)
        else:
            self._states[key] = state
        tally = Tally(self._states.values())
        self._runs.clear()
        for word, count in tally.items():
            self._runs.labels(word).set(count)


def _used_up(status: EvalRunStatus) -> int | None:
    """1 for a budget that is used up; None: there is none, or it is not."""
    types = {one.type for one in status.conditions if one.status == "True"}
    return 1 if ConditionType.BUDGET_EXCEEDED in types else None
