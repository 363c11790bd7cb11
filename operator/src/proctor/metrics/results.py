"""Prometheus series of the results server. No namespace, run or trial is a label."""

import math

from prometheus_client import CollectorRegistry, Counter, Gauge, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST


class ResultsMetrics:
    """The series, in a registry of one's own."""

    def __init__(self, registry: CollectorRegistry | None = None) -> None:
        self._registry = registry = registry or CollectorRegistry()
        self._answers = Counter(
            "proctor_results_answers_total",
            "Answers by port (upload, read) and class of HTTP status.",
            ["port", "status"],
            registry=registry,
        )
        self._stored = Gauge(
            "proctor_results_stored_bytes",
            "Sum of all stored records and bundles; set by each pass of retention, NaN before.",
            registry=registry,
        )
        self._stored.set(math.nan)

    def answered(self, port: str, status: int) -> None:
        """An answer goes out."""
        self._answers.labels(port, f"{status // 100}xx").inc()

    def set_stored(self, size_bytes: int) -> None:
        """What all folders take."""
        self._stored.set(size_bytes)

    def scrape(self) -> tuple[bytes, str]:
        """All series, and the type of that text."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST
