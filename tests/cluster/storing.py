"""Runs whose records are large, and what a person reads of them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cluster.kube import Kubectl, a_command_run
from proctor.api.record_folder import read_record

ACCOUNT = "proctor-reader"
RECORD_BYTES = 8_000_000
_DONE = {"type": "file_contains", "path": "answer.txt", "includes": ["forty-two"]}
_COMMAND = (
    f"echo said by the agent; head -c {RECORD_BYTES} /dev/urandom > big.bin; "
    "echo forty-two > answer.txt"
)


def a_storing_run(repeats: int, **more: Any) -> dict[str, Any]:
    """A spec whose every trial passes, and leaves a record of 8 MB that no other one has."""
    spec = a_command_run(_COMMAND, _DONE)
    artifacts = {"paths": ["*"], "maxMiB": 20}
    sandbox = {**spec["sandbox"], "artifacts": artifacts}
    return {**spec, "repeats": repeats, "parallelism": 4, "sandbox": sandbox, **more}


def stored(run: Mapping[str, Any]) -> Mapping[str, Any]:
    """The condition ResultsStored of a run."""
    conditions = run["status"]["conditions"]
    found: Mapping[str, Any] = next(one for one in conditions if one["type"] == "ResultsStored")
    return found


def require_all_stored(run: Mapping[str, Any], count: int) -> None:
    """Every trial of a run passed, and every record is there."""
    assert run["status"]["trials"]["passed"] == count, run["status"]
    found = stored(run)
    assert (found["status"], found["message"]) == ("True", f"{count} records are stored"), found


def require_named(kube: Kubectl, run: Mapping[str, Any], *reasons: str) -> int:
    """Every verdict of a run stands, and each record that is missing is named; how many are.

    One of ``reasons`` is in what is said of each.
    """
    trials = kube.trials(run["metadata"]["name"])
    assert {trial["status"]["outcome"] for trial in trials} == {"Passed"}
    missing = [trial for trial in trials if "recordPlace" not in trial["status"]]
    found = stored(run)
    assert (found["status"], found["reason"]) == ("False", "RecordsMissing"), found
    assert f"{len(missing)} missing" in found["message"]
    for trial in missing:
        spec = trial["spec"]
        assert f"{spec['task']}/{spec['variant']}/{spec['repeat']} (" in found["message"]
        said = trial["status"]["recordProblem"]
        assert any(reason in said for reason in reasons), said
    return len(missing)


@dataclass(frozen=True, slots=True)
class Reader:
    """The command line of a person who may read a namespace's trials."""

    kube: Kubectl

    @classmethod
    def of(cls, kube: Kubectl) -> "Reader":
        """With a service account that may, as docs/results.md makes it."""
        kube("create", "serviceaccount", ACCOUNT)
        kube("create", "rolebinding", ACCOUNT, "--clusterrole=view",
             f"--serviceaccount={kube.namespace}:{ACCOUNT}")  # fmt: skip
        return cls(kube)

    def attempt(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        """Run ``proctor``, whatever it says."""
        return subprocess.run(
            [
                Path(sys.executable).with_name("proctor"), *map(str, arguments),
                "-n", self.kube.namespace,
            ],
            capture_output=True,
            text=True,
            timeout=180,
            env=os.environ,
            check=False,
        )  # fmt: skip

    def __call__(self, *arguments: object, code: int = 0) -> str:
        """Run ``proctor``; all that it prints."""
        result = self.attempt(*arguments)
        assert result.returncode == code, (result.stdout, result.stderr)
        return result.stdout + result.stderr

    def count(self, run: str) -> int | None:
        """How many records of a run there are; None: the server cannot say."""
        result = self.attempt("records", run)
        if "cannot be asked" in result.stderr:
            return None
        return len(result.stdout.splitlines()) if result.returncode == 0 else 0

    def require_whole(self, run: str, folder: Path) -> None:
        """Every record of a run is read back, and is the one that its verdict stands for."""
        self("records", run, "-o", folder)
        trials = self.kube.trials(run)
        for trial in trials:
            spec, status = trial["spec"], trial["status"]
            place = folder / f"{spec['task']}+{spec['variant']}+{spec['repeat']}" / "record"
            record = read_record(place, status["recordDigest"].removeprefix("sha256:"))
            assert record.execution.trial.uid == trial["metadata"]["uid"]
            assert (place / "artifacts/big.bin").stat().st_size == RECORD_BYTES
        assert self("logs", run).count("agent: said by the agent") == len(trials)


def refusals(system: Kubectl) -> float:
    """Uploads that the server could not take so far, as its metrics count them."""
    path = f"/api/v1/namespaces/{system.namespace}/pods/proctor-results-0:8081/proxy/metrics"
    wanted = ('port="upload"', 'status="5xx"')
    return sum(
        float(line.rpartition(" ")[2])
        for line in system("get", "--raw", path).splitlines()
        if line.startswith("proctor_results_answers_total{") and all(w in line for w in wanted)
    )
