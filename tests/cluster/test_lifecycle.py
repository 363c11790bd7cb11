"""Suspend, cancel, deadlines, retention and pods that cannot start: each state says why."""

import pytest

from cluster.kube import KubectlError, a_command_run

LONG = a_command_run("sleep 300", {"type": "file_exists", "path": "never"})


def condition(run, kind):
    return next(c for c in run["status"]["conditions"] if c["type"] == kind)


def wait_running(kube, name):
    kube("wait", f"evalrun/{name}", "--for=jsonpath={.status.trials.running}=1", "--timeout=60s")


def test_a_suspended_run_stops_its_pods_and_goes_on_where_it_was(kube):
    kube.run("paused", LONG)
    wait_running(kube, "paused")
    kube("patch", "evalrun", "paused", "--type=merge", "--patch", '{"spec":{"suspend":true}}')
    kube("wait", "evalrun/paused", "--for=jsonpath={.status.state}=Suspended", "--timeout=60s")
    kube("wait", "pods", "--selector=proctor.dev/run=paused", "--for=delete", "--timeout=60s")
    kube("patch", "evalrun", "paused", "--type=merge", "--patch", '{"spec":{"suspend":false}}')
    wait_running(kube, "paused")
    kube("patch", "evalrun", "paused", "--type=merge", "--patch", '{"spec":{"cancelled":true}}')
    run = kube.finished("paused")
    assert condition(run, "Complete")["reason"] == "Cancelled"
    assert run["status"]["trials"]["cancelled"] == 1


def test_a_run_beyond_its_deadline_ends_and_says_so(kube):
    kube.run("slow", {**LONG, "activeDeadlineSeconds": 5})
    run = kube.finished("slow")
    assert condition(run, "Complete")["reason"] == "DeadlineExceeded"


def test_a_finished_run_goes_when_its_retention_is_over(kube):
    spec = a_command_run("true", {"type": "file_exists", "path": "never"})
    kube.run("gone", {**spec, "ttlSecondsAfterFinished": 0})
    kube("wait", "evalrun/gone", "--for=delete", "--timeout=120s")
    assert kube.list("pods", "--selector=proctor.dev/run=gone") == []


def test_deleting_a_run_leaves_no_pod_behind(kube):
    kube.run("deleted", LONG)
    wait_running(kube, "deleted")
    kube("delete", "evalrun", "deleted", "--timeout=60s")
    kube("wait", "pods", "--selector=proctor.dev/run=deleted", "--for=delete", "--timeout=90s")


def test_an_image_that_cannot_be_pulled_is_named_and_ends_the_trial(kube):
    spec = a_command_run("true", {"type": "file_exists", "path": "x"})
    kube.run("no-image", {**spec, "sandbox": {"image": "images.invalid/nothing:1"}})
    run = kube.finished("no-image", timeout=180)
    (failing,) = run["status"]["failing"]
    assert failing["outcome"] == "InfraFailed"
    assert "images.invalid/nothing:1" in failing["reason"]
    assert run["status"].get("score") is None


def test_a_pod_that_no_node_can_take_is_explained_within_a_minute(kube):
    spec = a_command_run("true", {"type": "file_exists", "path": "x"})
    sandbox = {"resources": {"cpu": "4000"}}
    policy = {"pendingTimeoutSeconds": 20}
    kube.run("too-big", {**spec, "sandbox": sandbox, "failurePolicy": policy})
    kube(
        "wait", "evalrun/too-big", "--timeout=60s",
        "--for=jsonpath={.status.conditions[?(@.type=='Progressing')].reason}=Unschedulable",
    )  # fmt: skip
    run = kube.finished("too-big")
    assert run["status"]["failing"][0]["outcome"] == "InfraFailed"
    assert "Unschedulable" in run["status"]["failing"][0]["reason"]


def test_a_spec_cannot_change_once_the_run_has_started(kube):
    kube.run("fixed", LONG)
    wait_running(kube, "fixed")
    with pytest.raises(KubectlError, match=r"immutable|cannot be changed|new name"):
        kube("patch", "evalrun", "fixed", "--type=merge", "--patch", '{"spec":{"repeats":5}}')
    kube("delete", "evalrun", "fixed", "--timeout=60s")


def test_an_agent_that_takes_too_long_is_timed_out_and_still_graded(kube):
    spec = a_command_run(
        "echo started > out.txt; sleep 300", {"type": "file_exists", "path": "out.txt"}
    )
    kube.run("late", {**spec, "limits": {"taskTimeoutSeconds": 3}})
    kube.finished("late")
    (trial,) = kube.trials("late")
    assert (trial["status"]["outcome"], trial["status"]["score"]) == ("TimedOut", "1")


def test_an_agent_that_takes_all_memory_fails_and_is_not_run_again(kube):
    bomb = "python3 -c 'x = bytearray(10**9); x[::4096] = b\"1\" * len(x[::4096])'"
    spec = a_command_run(bomb, {"type": "file_exists", "path": "never"})
    kube.run("hungry", {**spec, "sandbox": {"resources": {"memory": "128Mi"}}})
    kube.finished("hungry")
    (trial,) = kube.trials("hungry")
    assert trial["status"]["outcome"] in {"AgentError", "Failed"}
    assert trial["status"]["score"] == "0"
    assert len(trial["status"]["attempts"]) == 1
