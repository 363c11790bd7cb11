"""The first thing that a user does, and that the laptop says the same."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

HELLO = Path(__file__).parents[2] / "examples" / "evalrun-hello.yaml"


@pytest.fixture(scope="module")
def hello(kube):
    kube("apply", f"--filename={HELLO}")
    documents = list(yaml.safe_load_all(HELLO.read_text()))
    (name,) = [d["metadata"]["name"] for d in documents if d["kind"] == "EvalRun"]
    return kube.finished(name)


def verdicts_of(trials):
    return {
        (trial["task"], trial["variant"], trial["repeat"]): (
            trial["outcome"],
            trial["score"],
            trial["reason"],
        )
        for trial in trials
    }


def test_the_run_is_complete_and_counts_every_trial(hello):
    counts = hello["status"]["trials"]
    assert counts["total"] >= 4
    assert counts["passed"] + counts["failed"] == counts["total"]
    assert counts["passed"] >= 1
    assert counts["failed"] >= 1


def test_kubectl_get_prints_a_line_that_answers(kube, hello):
    header, line = kube("get", "evr", hello["metadata"]["name"]).splitlines()
    for column in ("STATUS", "PASSED", "TOTAL", "SCORE", "COST"):
        assert column in header
    cells = dict(zip(header.split(), line.split(), strict=False))
    status = hello["status"]
    assert cells["STATUS"] == "Complete"
    assert cells["PASSED"] == str(status["trials"]["passed"])
    assert cells["TOTAL"] == str(status["trials"]["total"])
    assert cells["SCORE"] == status["score"]
    assert cells["COST"] == status["costUsd"]


def test_kubectl_get_evt_prints_one_line_a_trial(kube, hello):
    lines = kube("get", "evt", "--no-headers").splitlines()
    assert len(lines) == hello["status"]["trials"]["total"]
    assert any("Passed" in line for line in lines)
    assert any("Failed" in line for line in lines)


def test_scripted_money_is_shown_and_never_spent(hello):
    assert hello["status"]["costUsd"] == "0"
    assert float(hello["status"]["scriptedCostUsd"]) > 0
    assert hello["status"]["tokens"]["input"] > 0


def test_a_failing_trial_says_why(hello):
    failing = hello["status"]["failing"]
    assert failing
    assert all(trial["reason"] for trial in failing)


def test_the_laptop_gives_the_same_verdicts_for_the_same_file(kube, hello, tmp_path):
    result = subprocess.run(
        [
            Path(sys.executable).with_name("proctor"),
            "run",
            HELLO,
            "--json",
            "--output",
            tmp_path / "r",
        ],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    local = verdicts_of(json.loads(result.stdout)["trials"])
    trials = kube.trials(hello["metadata"]["name"])
    cluster = verdicts_of({**t["spec"], **t["status"]} for t in trials)
    assert cluster == local
