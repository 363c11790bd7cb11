"""Records outlive their pods: grade sends them, people read them with a token of their own."""

import pytest

from cluster.kube import a_command_run
from cluster.storing import Reader
from proctor.api.record_folder import read_record

DONE = {"type": "file_contains", "path": "out/answer.txt", "includes": ["forty-two"]}


@pytest.fixture(scope="module")
def proctor(kube):
    return Reader.of(kube)


@pytest.fixture(scope="module")
def stored(kube, proctor):
    """A run whose trials ended, whose records are stored, and whose pods are gone."""
    command = "echo said by the agent; mkdir out; echo forty-two > out/answer.txt; echo x > other"
    spec = a_command_run(command, DONE)
    artifacts = {"paths": ["out/**"], "maxMiB": 1}
    kube.run(
        "stored", {**spec, "repeats": 2, "sandbox": {**spec["sandbox"], "artifacts": artifacts}}
    )
    run = kube.finished("stored")
    kube("delete", "pods", "--all", "--wait=true")
    return run


def condition(run, kind):
    return next((one for one in run["status"]["conditions"] if one["type"] == kind), None)


def test_the_run_says_that_all_records_are_stored(stored):
    found = condition(stored, "ResultsStored")
    assert (found["status"], found["reason"]) == ("True", "AllStored")
    assert "2 records are stored" in found["message"]


def test_every_trial_says_where_its_record_is(kube, stored):
    for trial in kube.trials("stored"):
        assert trial["status"]["recordPlace"] == "ResultsServer"
        assert trial["status"]["recordDigest"].startswith("sha256:")
        assert trial["status"]["outcome"] == "Passed"


def test_logs_are_there_after_the_pods_are_gone(kube, stored, proctor):
    said = proctor("logs", "stored")
    assert "== task/default/0 (Passed)" in said
    assert said.count("agent: said by the agent") == 2
    assert proctor("logs", "stored", "task/default/1").count("agent: said") == 1


def test_a_downloaded_record_is_the_one_that_the_verdict_stands_for(
    kube, stored, proctor, tmp_path
):
    proctor("records", "stored", "-o", tmp_path)
    for trial in kube.trials("stored"):
        folder = tmp_path / f"task+default+{trial['spec']['repeat']}" / "record"
        record = read_record(folder, trial["status"]["recordDigest"].removeprefix("sha256:"))
        assert record.execution.trial.uid == trial["metadata"]["uid"]
        assert (folder / "artifacts/out/answer.txt").read_text() == "forty-two\n"
        assert not (folder / "artifacts/other").exists()


def test_logs_of_a_trial_that_runs_come_from_its_pod(kube, proctor):
    kube.run("running", a_command_run("echo begun; sleep 40", DONE))
    selector = "--selector=proctor.dev/run=running"
    kube("wait", "pod", selector, "--for=create", "--timeout=60s")
    kube(
        "wait", "pod", selector, "--timeout=120s",
        "--for=jsonpath={.status.initContainerStatuses[1].started}=true",
    )  # fmt: skip
    assert "== task/default/0" in proctor("logs", "running", code=0)
    kube("patch", "evalrun", "running", "--type=merge", "--patch", '{"spec":{"cancelled":true}}')
    kube.finished("running")


def test_whoever_may_not_get_trials_reads_nothing(kube, stored, proctor):
    kube("create", "serviceaccount", "stranger")
    said = proctor("records", "stored", "--service-account", "stranger", code=2)
    assert "may not get evaltrials" in said


def test_an_account_that_does_not_exist_is_said_with_the_remedy(stored, proctor):
    said = proctor("records", "stored", "--service-account", "nobody", code=2)
    assert "create serviceaccount nobody" in said


def test_only_grade_mounts_the_results_token(kube, stored):
    kube.run("failing", a_command_run("true", DONE))
    kube.finished("failing")
    (pod,) = kube.list("pods", "--selector=proctor.dev/run=failing")
    holders = [
        container["name"]
        for container in (*pod["spec"]["initContainers"], *pod["spec"]["containers"])
        if any(mount["name"] == "results-token" for mount in container["volumeMounts"])
    ]
    assert holders == ["grade"]
    (volume,) = [one for one in pod["spec"]["volumes"] if one["name"] == "results-token"]
    (source,) = volume["projected"]["sources"]
    assert source["serviceAccountToken"]["audience"] == "proctor-results"
