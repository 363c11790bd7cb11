"""`kubectl get events` tells of a run and of its trials; a ServiceAccount that is away or unfit."""

import json

import pytest

from cluster.conftest import a_namespace
from cluster.kube import a_command_run
from waiting import until

EXISTS = {"type": "file_exists", "path": "x"}
NEVER_READ = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "somebodys"}}
UNFIT = {
    "apiVersion": "v1",
    "kind": "ServiceAccount",
    "metadata": {"name": "proctor-trial"},
    "secrets": [{"name": "somebodys"}],
}


def events_of(kube, run):
    """(type, reason) → message of the run's Events, as kubectl prints them."""
    text = kube("get", "events", "--output=json", "--field-selector="
                f"involvedObject.kind=EvalRun,involvedObject.name={run}")  # fmt: skip
    return {(one["type"], one["reason"]): one["message"] for one in json.loads(text)["items"]}


def until_told(kube, run, *reasons):
    """Its Events, once all of these are among them."""
    until(
        lambda: set(reasons) <= {reason for _, reason in events_of(kube, run)},
        lambda: f"{reasons} are among {events_of(kube, run)}",
        seconds=30,
    )
    return events_of(kube, run)


def test_a_run_that_goes_well_says_that_it_was_accepted_and_how_it_ended(kube):
    kube.run("well", a_command_run("touch x", EXISTS))
    kube.finished("well")
    assert until_told(kube, "well", "AllTrialsFinished") == {
        ("Normal", "Accepted"): "1 trials, agent command",
        ("Normal", "AllTrialsFinished"): "1 of 1 trials passed, 0 failed, 0 without a score; "
        "score 1",
    }
    assert "AllTrialsFinished" in kube("describe", "evalrun", "well")


def test_a_run_that_is_rejected_says_what_is_wrong(kube):
    spec = a_command_run("true", EXISTS)
    kube.run("wrong", {**spec, "agent": {"type": "nobody-knows"}})
    kube.finished("wrong")
    told = until_told(kube, "wrong", "Rejected")
    assert "nobody-knows" in told["Warning", "Rejected"]


def test_artifacts_that_no_record_can_hold_are_refused_with_both_bounds(kube):
    spec = a_command_run("true", EXISTS)
    artifacts = {"paths": ["**"], "maxMiB": 257}
    kube.run("large", {**spec, "sandbox": {**spec["sandbox"], "artifacts": artifacts}})
    kube.finished("large")
    said = until_told(kube, "large", "Rejected")["Warning", "Rejected"]
    assert "sandbox.artifacts.maxMiB" in said
    assert "257 MiB" in said
    assert "results.maxFolderMiB" in said
    assert "256 MiB" in said


@pytest.fixture
def unfit(system):
    """A namespace whose ServiceAccount for trials carries a Secret."""
    with a_namespace("restricted") as kubectl:
        kubectl.apply(NEVER_READ, UNFIT)
        yield kubectl


def test_an_unfit_service_account_ends_trials_with_the_reason_and_an_event_of_each(unfit):
    spec = a_command_run("touch x", EXISTS)
    unfit.run("unfit", {**spec, "repeats": 2, "failurePolicy": {"pendingTimeoutSeconds": 20}})
    unfit("wait", "evalrun/unfit", "--timeout=30s",
          "--for=jsonpath={.status.conditions[?(@.type=='Progressing')].reason}"
          "=ServiceAccountUnfit")  # fmt: skip
    run = unfit.finished("unfit", timeout=90)
    assert unfit.list("pods") == []
    assert run["status"]["trials"]["errored"] == 2
    assert "score" not in run["status"]
    told = until_told(unfit, "unfit", "InfraFailed", "AllTrialsFinished")
    assert told["Warning", "InfraFailed"].startswith("task/default/")
    assert "ServiceAccountUnfit" in told["Warning", "InfraFailed"]
    assert "secrets somebodys" in told["Warning", "InfraFailed"]
    assert "2 without a score; score none" in told["Warning", "AllTrialsFinished"]


def test_an_unfit_service_account_that_is_put_right_in_time_costs_nothing(unfit):
    unfit.run("mended", a_command_run("touch x", EXISTS))
    unfit("wait", "evalrun/mended", "--timeout=30s",
          "--for=jsonpath={.status.conditions[?(@.type=='Progressing')].reason}"
          "=ServiceAccountUnfit")  # fmt: skip
    unfit("patch", "serviceaccount", "proctor-trial", "--type=merge", '--patch={"secrets":null}')
    assert unfit.finished("mended")["status"]["trials"]["passed"] == 1


def test_a_service_account_that_is_removed_meanwhile_is_made_again(kube):
    spec = a_command_run("touch x; sleep 6", EXISTS)
    kube.run("removed", {**spec, "repeats": 2, "parallelism": 1})
    kube.pod_running("removed", "agent")
    kube("delete", "serviceaccount", "proctor-trial")
    run = kube.finished("removed")
    outcomes = {trial["spec"]["repeat"]: trial["status"] for trial in kube.trials("removed")}
    assert run["status"]["trials"]["total"] == 2
    assert outcomes[1]["outcome"] == "Passed", outcomes[1]
    assert kube.get("serviceaccount", "proctor-trial")["automountServiceAccountToken"] is False
