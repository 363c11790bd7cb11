"""The operator's series: base units, bounded labels, and what was spent apart from the rest."""

from decimal import Decimal

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from proctor.api.conditions import Condition
from proctor.api.evaltrial import EvalTrialStatus, StageSeconds
from proctor.api.run_status import EvalRunStatus, Spending, TokenCounts, TrialCounts, VariantStatus
from proctor.metrics.trials import OperatorMetrics, TrialLabels

LABELS = TrialLabels("team", "web", "mini", "claude-haiku-4-5", "base")
AS_TEXT = {
    "namespace": "team",
    "suite": "web",
    "agent": "mini",
    "model": "claude-haiku-4-5",
    "variant": "base",
}


@pytest.fixture
def registry():
    return CollectorRegistry()


@pytest.fixture
def metrics(registry):
    return OperatorMetrics(registry, "1.2.3")


def a_trial(**changes):
    values = {
        "outcome": "Passed",
        "score": Decimal(1),
        "cost_usd": Decimal("0.25"),
        "tokens": TokenCounts(input=100, output=20, cache_read=7),
        "seconds": StageSeconds(agent=Decimal("12.5"), grade=Decimal("0.3")),
    }
    return EvalTrialStatus(**{**values, **changes})


def a_run(**changes):
    variant = VariantStatus(
        name="base",
        agent="mini",
        model="m",
        total=2,
        score=Decimal("0.5"),
        pass_ratio=Decimal("0.5"),
        cost_usd=Decimal("0.75"),
    )
    values = {
        "state": "Running",
        "score": Decimal("0.5"),
        "cost_usd": Decimal("0.75"),
        "trials": TrialCounts(total=2, running=1, passed=1),
        "variants": (variant,),
    }
    return EvalRunStatus(**{**values, **changes})


def test_a_trial_is_counted_by_outcome(metrics, registry):
    metrics.trial_recorded(LABELS, a_trial())
    metrics.trial_recorded(LABELS, a_trial(outcome="Failed"))
    for outcome in ("Passed", "Failed"):
        labels = {**AS_TEXT, "outcome": outcome}
        assert registry.get_sample_value("proctor_trials_total", labels) == 1


def test_money_tokens_and_time_of_a_trial_are_added_up(metrics, registry):
    metrics.trial_recorded(LABELS, a_trial())
    metrics.trial_recorded(LABELS, a_trial())
    value = registry.get_sample_value
    assert value("proctor_trial_cost_usd_total", AS_TEXT) == 0.5
    assert value("proctor_tokens_total", {**AS_TEXT, "kind": "cache_read"}) == 14
    stage = {"agent": "mini", "stage": "agent"}
    assert value("proctor_trial_duration_seconds_sum", stage) == 25
    assert value("proctor_trial_duration_seconds_count", {**stage, "stage": "checks"}) is None


def test_scripted_money_is_never_spent(metrics, registry):
    status = a_trial(cost_usd=Decimal(0), scripted_cost_usd=Decimal(3))
    metrics.trial_recorded(LABELS, status)
    assert registry.get_sample_value("proctor_trial_cost_usd_total", AS_TEXT) == 0
    assert registry.get_sample_value("proctor_trial_scripted_cost_usd_total", AS_TEXT) == 3


def test_an_unknown_cost_is_no_zero_and_is_counted(metrics, registry):
    metrics.trial_recorded(LABELS, a_trial(cost_usd=None, cost_complete=False))
    assert registry.get_sample_value("proctor_trial_cost_usd_total", AS_TEXT) is None
    assert registry.get_sample_value("proctor_trials_cost_incomplete_total", AS_TEXT) == 1


def test_an_agents_own_choice_of_model_has_an_empty_label(metrics, registry):
    metrics.trial_recorded(TrialLabels("team", "web", "command", None, "base"), a_trial())
    labels = {**AS_TEXT, "agent": "command", "model": "", "outcome": "Passed"}
    assert registry.get_sample_value("proctor_trials_total", labels) == 1


def test_a_runs_figures_are_its_statuss(metrics, registry):
    metrics.run_seen("team", "nightly", "web", a_run())
    run = {"namespace": "team", "evalrun": "nightly", "suite": "web"}
    variant = {**run, "variant": "base", "agent": "mini", "model": "m"}
    value = registry.get_sample_value
    assert value("proctor_run_score", run) == 0.5
    assert value("proctor_run_cost_usd", run) == 0.75
    assert value("proctor_run_trials", {**run, "state": "running"}) == 1
    assert value("proctor_run_variant_score", variant) == 0.5
    assert value("proctor_run_variant_cost_usd", variant) == 0.75
    assert value("proctor_run_pass_ratio", run) is None
    assert value("proctor_run_variant_scripted_cost_usd", variant) is None


def test_what_is_spent_so_far_and_a_used_up_budget_have_series(metrics, registry):
    run = {"namespace": "team", "evalrun": "nightly", "suite": "web"}
    value = registry.get_sample_value
    metrics.run_seen("team", "nightly", "web", a_run())
    assert value("proctor_run_spending_usd", run) is None
    assert value("proctor_run_budget_exceeded", run) is None
    used_up = Condition(
        type="BudgetExceeded", status="True", reason="BudgetUsedUp", last_transition_time="t"
    )
    spending = Spending(cost_usd=Decimal("1.5"))
    metrics.run_seen("team", "nightly", "web", a_run(spending=spending, conditions=(used_up,)))
    assert value("proctor_run_spending_usd", run) == 1.5
    assert value("proctor_run_budget_exceeded", run) == 1


def test_runs_are_counted_by_state(metrics, registry):
    metrics.run_seen("team", "a", "web", a_run())
    metrics.run_seen("team", "b", "web", a_run())
    metrics.run_seen("team", "a", "web", a_run(state="Complete"))
    value = registry.get_sample_value
    assert value("proctor_runs", {"status": "Running"}) == 1
    assert value("proctor_runs", {"status": "Complete"}) == 1
    metrics.run_gone("team", "b")
    assert value("proctor_runs", {"status": "Running"}) is None


def test_series_of_a_run_go_with_it(metrics, registry):
    metrics.run_seen("team", "nightly", "web", a_run())
    metrics.run_gone("team", "nightly")
    metrics.run_gone("team", "never-seen")
    assert "nightly" not in metrics.exposition().decode()


def test_what_a_status_says_no_longer_goes(metrics, registry):
    run = {"namespace": "team", "evalrun": "nightly", "suite": "web"}
    metrics.run_seen("team", "nightly", "web", a_run())
    metrics.run_seen("team", "nightly", "web", a_run(score=None, variants=()))
    assert registry.get_sample_value("proctor_run_score", run) is None
    assert "proctor_run_variant_score{" not in metrics.exposition().decode()


def test_passes_requests_and_watches_are_counted(metrics, registry):
    metrics.pass_ended(0.02, failed=False)
    metrics.pass_ended(0.02, failed=True)
    metrics.api_request("PATCH", "200")
    metrics.watch_restarted("pods")
    metrics.attempt_closed("Evicted")
    metrics.count_pending(lambda: 4)
    value = registry.get_sample_value
    assert value("proctor_reconcile_duration_seconds_count") == 2
    assert value("proctor_reconcile_errors_total") == 1
    assert value("proctor_api_requests_total", {"verb": "PATCH", "code": "200"}) == 1
    assert value("proctor_watch_restarts_total", {"kind": "pods"}) == 1
    assert value("proctor_infra_failures_total", {"reason": "Evicted"}) == 1
    assert value("proctor_pods_pending") == 4
    assert value("proctor_build_info", {"version": "1.2.3"}) == 1


def test_no_id_is_a_label_and_every_name_follows_the_conventions(metrics):
    metrics.trial_recorded(LABELS, a_trial())
    metrics.run_seen("team", "nightly", "web", a_run())
    for family in text_string_to_metric_families(metrics.exposition().decode()):
        assert family.name.startswith("proctor_")
        for sample in family.samples:
            assert not sample.labels.keys() & {"task", "trial", "pod", "uid", "repeat"}
            if family.type in ("counter", "histogram"):
                assert "evalrun" not in sample.labels


def test_a_process_shows_its_own_memory():
    text = OperatorMetrics.of_process("1").exposition().decode()
    assert "process_resident_memory_bytes" in text
