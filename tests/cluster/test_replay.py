"""The recorded demo, replayed on the cluster: the verdicts of the laptop, and nobody is asked."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "replay"


@pytest.fixture(scope="module")
def replayed(kube):
    kube("apply", f"--filename={EXAMPLE}")
    return kube.finished("demo-replay")


def test_the_cluster_says_what_the_laptop_says(kube, replayed, tmp_path):
    command = ["run", "--json", "-q", EXAMPLE, "--output", tmp_path / "run"]
    main = "from proctor.cli.main import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", main, *map(str, command)], capture_output=True, check=True
    )
    local = {
        (trial["task"], trial["variant"]): (trial["outcome"], trial["score"])
        for trial in json.loads(done.stdout)["trials"]
    }
    trials = json.loads(kube("get", "evt", "--output=json"))["items"]
    ours = [one for one in trials if one["spec"]["runName"] == "demo-replay"]
    assert {
        (one["spec"]["task"], one["spec"]["variant"]): (
            one["status"]["outcome"],
            one["status"]["score"],
        )
        for one in ours
    } == local
    assert len(local) == 6


def test_nothing_is_spent(replayed):
    status = replayed["status"]
    assert status["costUsd"] == "0"
    assert float(status["scriptedCostUsd"]) > 0
