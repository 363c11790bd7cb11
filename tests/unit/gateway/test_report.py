import json
import logging
from decimal import Decimal

import pytest

from builders_gateway import MODEL, a_ledger, an_account, an_ask, prices
from proctor.api.usage import Usage
from proctor.gateway.ledger import Ending, OpenCall
from proctor.gateway.limits import Refusal
from proctor.gateway.report import Report
from proctor.metrics.gateway import GatewayMetrics, ModelCall
from proctor.serving.logs import JsonLines
from proctor.wire.format import Reading

DONE = Ending(200, Reading(Usage(1000, 100), complete=True))


class Bench:
    def __init__(self) -> None:
        self.metrics = GatewayMetrics()
        self.report = Report(self.metrics, prices())

    def call(self, model: str, ending: Ending, script: str | None = None) -> None:
        ledger = a_ledger()
        call = ledger.open_call(an_account(script), an_ask(model))
        assert isinstance(call, OpenCall)
        self.report.started(call)
        self.report.ended(call, ledger.end_call(call, ending))

    def series(self) -> list[str]:
        text = self.metrics.scrape()[0].decode()
        return [line for line in text.splitlines() if line.startswith("proctor_")]


def test_tokens_and_money_of_live_calls_are_counted() -> None:
    bench = Bench()
    bench.call(MODEL, DONE)
    labels = 'model="model-1",namespace="local",provider="p"'
    assert f"proctor_gateway_cost_usd_total{{{labels}}} 0.002" in bench.series()
    tokens = f'proctor_gateway_tokens_total{{kind="input",{labels}}} 1000.0'
    assert tokens in bench.series()
    assert "proctor_gateway_open_calls 0.0" in bench.series()


def test_scripted_money_is_never_spent() -> None:
    bench = Bench()
    bench.call(MODEL, DONE, script="rules: [{answer: {}}]")
    assert not [line for line in bench.series() if "cost_usd" in line]


def test_models_without_a_price_share_one_label() -> None:
    bench = Bench()
    for model in ("made-up-1", "made-up-2"):
        bench.call(model, Ending(None, provider_failure="gone"))
    calls = [line for line in bench.series() if line.startswith("proctor_gateway_calls_total")]
    labels = 'model="other",namespace="local",provider="p",status="none"'
    assert calls == [f"proctor_gateway_calls_total{{{labels}}} 2.0"]


def test_refusals_are_counted_by_limit() -> None:
    bench = Bench()
    bench.report.refused(an_account(), Refusal("maxUsd", "why"))
    bench.report.refused(an_account(), Refusal(None, "why"))
    counted = [line for line in bench.series() if "refusals_total" in line]
    assert counted == [
        'proctor_gateway_refusals_total{limit="maxUsd",namespace="local"} 1.0',
        'proctor_gateway_refusals_total{limit="other",namespace="local"} 1.0',
    ]


def test_a_call_that_could_not_be_booked_is_counted_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench()
    call = a_ledger().open_call(an_account(), an_ask())
    assert isinstance(call, OpenCall)
    bench.report.started(call)
    bench.report.failed(call, OSError("disk full"))
    assert "proctor_gateway_ledger_errors_total 1.0" in bench.series()
    assert "the ledger cannot be written" in caplog.text


def test_a_call_that_went_well_needs_no_line(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "proctor.gateway"):
        Bench().call(MODEL, DONE)
    assert not caplog.records


def test_a_call_that_its_provider_failed_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    Bench().call(MODEL, Ending(None, provider_failure="gone"))
    assert [(line.levelname, line.message) for line in caplog.records] == [
        ("WARNING", "model call")
    ]


def test_durations_are_one_histogram_for_all_namespaces() -> None:
    metrics = GatewayMetrics()
    for namespace, seconds in (("a", 0.0625), ("b", 0.25), ("b", 1000.0)):
        metrics.started()
        metrics.ended(ModelCall(namespace, "p", "m", 200, seconds, None, None))
    lines = metrics.scrape()[0].decode().splitlines()
    seconds = {
        line.partition("{")[2].rpartition("}")[0]: line.rpartition(" ")[2]
        for line in lines
        if line.startswith("proctor_gateway_call_duration_seconds_bucket")
    }
    of_call = 'model="m",provider="p"'
    assert seconds[f'le="0.1",{of_call}'] == "1.0"
    assert seconds[f'le="0.25",{of_call}'] == "2.0"
    assert seconds[f'le="600.0",{of_call}'] == "2.0"
    assert seconds[f'le="+Inf",{of_call}'] == "3.0"
    assert f"proctor_gateway_call_duration_seconds_count{{{of_call}}} 3.0" in lines
    assert f"proctor_gateway_call_duration_seconds_sum{{{of_call}}} 1000.3125" in lines


def test_usage_that_was_not_measured_makes_no_sample_of_tokens() -> None:
    bench = Bench()
    bench.call(MODEL, Ending(None, provider_failure="gone"))
    assert not [line for line in bench.series() if line.startswith("proctor_gateway_tokens")]


def test_a_line_of_the_log_is_a_json_object(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, "proctor.gateway"):
        Bench().call(MODEL, DONE)
    line = json.loads(JsonLines().format(caplog.records[0]))
    assert (line["level"], line["message"], line["trial_uid"]) == ("debug", "model call", "trial-1")
    assert Decimal(line["cost_usd"]) == Decimal("0.002")


def test_an_exception_is_told_in_its_line() -> None:
    error = ValueError("why")
    record = logging.LogRecord("n", logging.ERROR, "", 0, "m", (), (ValueError, error, None))
    assert "ValueError: why" in json.loads(JsonLines().format(record))["exception"]
