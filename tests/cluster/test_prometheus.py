"""Prometheus scrapes the operator, and its figures are the run's."""

import json
import subprocess
import threading
import time
import urllib.parse
import urllib.request

import pytest
import yaml

from cluster.kube import SMALL, an_evalrun

PORT = 19090
SCRIPT = """
rules:
  - when: {turn: 1}
    answer:
      tools: [{name: write, input: {path: out.txt, content: done}}]
      usage: {input: 1000, output: 100}
  - answer: {text: finished, usage: {input: 1200, output: 50}}
"""


@pytest.fixture(scope="module")
def run(kube):
    spec = {
        "agent": {"type": "mini", "model": "claude-sonnet-4-5"},
        "variants": [{"name": "one"}, {"name": "two", "agent": {"model": "claude-haiku-4-5"}}],
        "sandbox": SMALL,
        "models": {"mode": "Scripted", "script": {"inline": SCRIPT}},
        "tasks": [
            {
                "name": "write",
                "prompt": "write it",
                "criteria": [{"type": "file_exists", "path": "out.txt"}],
            }
        ],
    }
    kube.apply(an_evalrun("measured", spec))
    return kube.finished("measured")


@pytest.fixture(scope="module")
def prometheus(tmp_path_factory, operator_address):
    folder = tmp_path_factory.mktemp("prometheus")
    config = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [
            {"job_name": "proctor", "static_configs": [{"targets": [operator_address]}]}
        ],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    process = subprocess.Popen(
        [
            "prometheus",
            f"--config.file={folder}/prometheus.yml",
            f"--storage.tsdb.path={folder}/data",
            f"--web.listen-address=127.0.0.1:{PORT}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    yield
    process.terminate()
    process.wait(30)


def query(expression, until=60.0):
    """Ask until there is an answer; an empty one after ``until`` seconds."""
    url = f"http://127.0.0.1:{PORT}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    deadline = time.monotonic() + until
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as response:
                result = json.load(response)["data"]["result"]
        except OSError:
            result = []
        if result or time.monotonic() > deadline:
            return result
        threading.Event().wait(0.5)


def test_cost_and_score_by_agent_and_variant_are_those_of_the_run(run, prometheus, kube):
    selector = f'{{namespace="{kube.namespace}",evalrun="measured"}}'
    scores = query(f"proctor_run_variant_score{selector}")
    costs = query(f"proctor_run_variant_scripted_cost_usd{selector}")
    variants = {variant["name"]: variant for variant in run["status"]["variants"]}
    assert {s["metric"]["variant"] for s in scores} == set(variants) == {"one", "two"}
    for sample in scores:
        assert sample["metric"]["agent"] == "mini"
        assert float(sample["value"][1]) == float(variants[sample["metric"]["variant"]]["score"])
    for sample in costs:
        expected = float(variants[sample["metric"]["variant"]]["scriptedCostUsd"])
        assert float(sample["value"][1]) == pytest.approx(expected)


def test_scripted_money_is_not_in_the_counter_of_money_spent(run, prometheus, kube):
    spent = query(f'proctor_trial_cost_usd_total{{namespace="{kube.namespace}"}}', until=5)
    assert all(float(sample["value"][1]) == 0 for sample in spent)


def test_trials_are_counted_once_by_outcome(run, prometheus, kube):
    total = query(f'sum(proctor_trials_total{{namespace="{kube.namespace}",outcome="Passed"}})')
    assert float(total[0]["value"][1]) >= 2
