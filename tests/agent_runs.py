"""Runs a suite of agents by ``proctor run`` or on a cluster, all as tasks of one EvalRun."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from agent_suites import NO_WORDS, Ended, SuiteAgent, spec_of
from cluster.kube import Kubectl, an_evalrun
from proctor.local.files import remove_tree

LINES = "agent lines"
"""Name of the property by which a test hands its lines to ``conftest.py``."""


def run_locally(
    agents: Sequence[SuiteAgent],
    seed: str,
    folder: Path,
    *options: str,
    words: Mapping[str, str] = NO_WORDS,
    environment: Mapping[str, str] | None = None,
) -> Mapping[str, Ended]:
    """How each agent's trial ended, by task name."""
    manifest, output = folder / "evalrun.yaml", folder / "results"
    manifest.write_text(yaml.safe_dump(an_evalrun("agents", spec_of(agents, seed, words))))
    program = Path(sys.executable).with_name("proctor")
    result = subprocess.run(
        [program, "run", manifest, "--json", "--parallelism", "2", "--output", output, *options],
        env=None if environment is None else {**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    remove_tree(folder / "results")  # pytest's own cleaning ends in trees that are too deep
    assert result.returncode in (0, 1), result.stderr
    trials = json.loads(result.stdout)["trials"]
    return {
        trial["task"]: Ended(trial["outcome"], trial["score"], trial["reason"]) for trial in trials
    }


def run_on_cluster(
    kube: Kubectl,
    name: str,
    agents: Sequence[SuiteAgent],
    seed: str,
    words: Mapping[str, str] = NO_WORDS,
) -> Mapping[str, Ended]:
    """How each agent's trial ended, by task name."""
    kube.run(name, spec_of(agents, seed, words))
    run = kube.finished(name, timeout=1200)
    assert run["status"]["trials"]["total"] == len(agents), run["status"]["conditions"]
    ended = {}
    for trial in kube.trials(name):
        status = trial.get("status", {})
        ended[trial["spec"]["task"]] = Ended(
            status.get("outcome"), status.get("score"), status.get("reason", "")
        )
    return ended
