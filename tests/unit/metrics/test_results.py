"""Series of the results server."""

from proctor.metrics.results import ResultsMetrics


def series(metrics):
    return [line for line in metrics.scrape()[0].decode().splitlines() if line[0] != "#"]


def test_what_is_stored_is_not_said_to_be_nothing_before_it_was_counted():
    metrics = ResultsMetrics()
    assert "proctor_results_stored_bytes NaN" in series(metrics)
    metrics.set_stored(0)
    assert "proctor_results_stored_bytes 0.0" in series(metrics)
