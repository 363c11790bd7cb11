"""How pods end, and whose fault it is (kubernetes-field 2.7)."""

from datetime import timedelta

import pytest

from builders_controller import first_pod, verdict
from fakes.cluster import START
from fakes.kubelet import ended, running, waiting
from proctor.api.outcome import FailureClass, Outcome
from proctor.api.report import EXIT_NOT_STARTED
from proctor.api.termination import TrialVerdict
from proctor.controller.ending import failure_of, has_ended, is_lost, verdict_of
from proctor.controller.seen import SeenPod

INFRA, TASK, GRADER = FailureClass.INFRA, FailureClass.TASK, FailureClass.GRADER
CONFIG, CAPACITY = FailureClass.CONFIG, FailureClass.CAPACITY


def a_pod(deleting=None, node="node0", **status):
    body = first_pod()
    body["metadata"] |= {
        "uid": "pod-uid",
        "resourceVersion": "7",
        "creationTimestamp": "2026-03-01T12:00:00Z",
    }
    if deleting:
        body["metadata"]["deletionTimestamp"] = deleting
    body["spec"]["nodeName"] = node
    seen = SeenPod.from_body({**body, "status": status})
    assert seen is not None
    return seen


def disruption(reason):
    return [{"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "drained"}]


def after(*states, **status):
    """A failed pod whose init containers are in these states."""
    return a_pod(phase="Failed", initContainerStatuses=list(states), **status)


STAGED = ended("stage", 0)
AGENT_DONE = ended("agent", 0)

FAILURES = [
    pytest.param(after(STAGED, ended("agent", 1)), TASK, "AgentEnded", id="agent-exits"),
    pytest.param(
        after(STAGED, ended("agent", 137)), TASK, "AgentEnded", id="killed-without-a-word"
    ),
    pytest.param(
        after(STAGED, ended("agent", 137, "OOMKilled")), TASK, "OOMKilled", id="agent-oom"
    ),
    pytest.param(
        after(STAGED, ended("agent", 0, "OOMKilled")), TASK, "OOMKilled", id="oom-with-exit-0"
    ),
    pytest.param(
        after(STAGED, AGENT_DONE, ended("checks", 9)), TASK, "ChecksEnded", id="checks-exit"
    ),
    pytest.param(after(ended("stage", 1)), INFRA, "StageFailed", id="stage-fails"),
    pytest.param(
        after(STAGED, ended("agent", EXIT_NOT_STARTED)), INFRA, "AgentNotStarted", id="no-gateway"
    ),
    pytest.param(
        after(STAGED, ended("agent", 2)), INFRA, "AgentNotStarted", id="a-runner-of-other-version"
    ),
    pytest.param(
        after(STAGED, AGENT_DONE, ended("checks", EXIT_NOT_STARTED)),
        INFRA,
        "ChecksNotStarted",
        id="checks-before-any-command",
    ),
    pytest.param(
        after(STAGED, ended("agent", EXIT_NOT_STARTED, "OOMKilled")),
        TASK,
        "OOMKilled",
        id="oom-whatever-the-exit-code",
    ),
    pytest.param(
        after(STAGED, ended("agent", 127)), CONFIG, "RunnerCannotStart", id="no-interpreter"
    ),
    pytest.param(
        after(STAGED, ended("agent", 128, "StartError", "exec format error")),
        CONFIG,
        "RunnerCannotStart",
        id="wrong-architecture",
    ),
    pytest.param(
        after(STAGED, ended("agent", 137), conditions=disruption("PreemptionByScheduler")),
        INFRA,
        "PreemptionByScheduler",
        id="preempted",
    ),
    pytest.param(
        a_pod(
            phase="Failed",
            reason="Evicted",
            message="The node was low on resource: memory.",
            initContainerStatuses=[STAGED, running("agent")],
        ),
        INFRA,
        "Evicted",
        id="node-pressure",
    ),
    pytest.param(
        a_pod(
            phase="Failed",
            reason="Evicted",
            message='Usage of EmptyDir volume "workspace" exceeds the limit "4Gi".',
            initContainerStatuses=[STAGED, running("agent")],
        ),
        TASK,
        "Evicted",
        id="agent-fills-its-disk",
    ),
    pytest.param(
        a_pod(
            phase="Failed",
            reason="Evicted",
            message='Usage of EmptyDir volume "fetched" exceeds the limit "512Mi".',
            initContainerStatuses=[running("stage")],
        ),
        CONFIG,
        "Evicted",
        id="repository-fills-the-disk",
    ),
    pytest.param(
        a_pod(phase="Failed", reason="UnexpectedAdmissionError", message="no devices"),
        INFRA,
        "UnexpectedAdmissionError",
        id="kubelet-refuses",
    ),
    pytest.param(
        a_pod(
            phase="Failed",
            reason="DeadlineExceeded",
            initContainerStatuses=[STAGED, running("agent")],
        ),
        TASK,
        "DeadlineExceeded",
        id="backstop-in-agent",
    ),
    pytest.param(
        a_pod(phase="Failed", reason="DeadlineExceeded", containerStatuses=[running("grade")]),
        GRADER,
        "DeadlineExceeded",
        id="backstop-in-grade",
    ),
    pytest.param(
        a_pod(
            phase="Failed",
            reason="DeadlineExceeded",
            initContainerStatuses=[STAGED, AGENT_DONE, waiting("checks", "ImagePullBackOff")],
        ),
        INFRA,
        "DeadlineExceeded",
        id="backstop-before-checks-could-start",
    ),
    pytest.param(
        a_pod(
            phase="Failed",
            reason="DeadlineExceeded",
            initContainerStatuses=[STAGED, AGENT_DONE, ended("checks", 0)],
        ),
        INFRA,
        "DeadlineExceeded",
        id="backstop-before-grade-could-start",
    ),
    pytest.param(
        a_pod(
            phase="Failed",
            reason="DeadlineExceeded",
            initContainerStatuses=[STAGED, AGENT_DONE, running("checks")],
        ),
        TASK,
        "DeadlineExceeded",
        id="backstop-in-checks",
    ),
    pytest.param(
        a_pod(phase="Failed", reason="DeadlineExceeded"),
        CAPACITY,
        "DeadlineExceeded",
        id="backstop-before-anything",
    ),
    pytest.param(
        after(STAGED, ended("agent", 137, "ContainerStatusUnknown")),
        INFRA,
        "ContainerStatusUnknown",
        id="node-restarted",
    ),
    pytest.param(
        a_pod(
            deleting="2026-03-01T12:01:00Z",
            phase="Failed",
            initContainerStatuses=[STAGED, ended("agent", 143)],
        ),
        INFRA,
        "PodDeleted",
        id="deleted-by-somebody",
    ),
    pytest.param(
        a_pod(phase="Failed", containerStatuses=[ended("grade", 1)]),
        GRADER,
        "NoVerdict",
        id="grade-breaks",
    ),
    pytest.param(
        a_pod(phase="Failed", containerStatuses=[ended("grade", 137, "OOMKilled")]),
        GRADER,
        "OOMKilled",
        id="grade-oom",
    ),
    pytest.param(a_pod(phase="Failed"), INFRA, "NoVerdict", id="nobody-says-why"),
]


@pytest.mark.parametrize(("pod", "failure_class", "reason"), FAILURES)
def test_an_end_without_verdict_is_blamed_by_the_kubelets_evidence(pod, failure_class, reason):
    failure = failure_of(pod)
    assert (failure.failure_class, failure.reason) == (failure_class, reason)


@pytest.mark.parametrize(
    ("states", "started"),
    [
        pytest.param([ended("stage", 1)], False, id="stage-failed"),
        pytest.param([STAGED, ended("agent", 128, "StartError")], False, id="never-started"),
        pytest.param([STAGED, ended("agent", EXIT_NOT_STARTED)], False, id="not-begun"),
        pytest.param([STAGED, ended("agent", 1)], True, id="ran"),
    ],
)
def test_a_failure_says_whether_the_agent_may_have_run(states, started):
    assert failure_of(after(*states)).started is started


def test_the_verdict_is_the_termination_message_of_grade():
    pod = a_pod(phase="Succeeded", containerStatuses=[ended("grade", 0, message=verdict("uid"))])
    found = verdict_of(pod, "uid")
    assert isinstance(found, TrialVerdict)
    assert found.outcome is Outcome.PASSED


def test_what_an_agent_writes_as_its_termination_message_is_never_read():
    forged = ended("agent", 0, message=verdict("uid"))
    pod = a_pod(
        phase="Failed",
        initContainerStatuses=[STAGED, forged],
        containerStatuses=[ended("grade", 1)],
    )
    assert verdict_of(pod, "uid").failure_class is GRADER
    assert pod.containers["agent"].message == ""


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        pytest.param("PASSED", "NoVerdict", id="not-json"),
        pytest.param(verdict("uid")[:-20], "NoVerdict", id="cut"),
        pytest.param(verdict("other"), "ForeignVerdict", id="of-another-trial"),
        pytest.param(verdict("uid", attempt=2), "ForeignVerdict", id="of-another-attempt"),
    ],
)
def test_a_message_that_is_no_verdict_of_this_attempt_is_a_grader_error(message, reason):
    pod = a_pod(phase="Succeeded", containerStatuses=[ended("grade", 0, message=message)])
    failure = verdict_of(pod, "uid")
    assert (failure.failure_class, failure.reason) == (GRADER, reason)


@pytest.mark.parametrize(
    ("pod", "seconds", "ended_then"),
    [
        pytest.param(a_pod(phase="Pending"), 0, False, id="pending"),
        pytest.param(a_pod(phase="Running"), 0, False, id="running"),
        pytest.param(
            a_pod(phase="Running", containerStatuses=[ended("grade", 0)]), 0, True, id="graded"
        ),
        pytest.param(a_pod(phase="Failed"), 0, True, id="failed"),
        pytest.param(
            a_pod(deleting="2026-03-01T12:00:10Z", phase="Running"), 69, False, id="terminating"
        ),
        pytest.param(a_pod(deleting="2026-03-01T12:00:10Z", phase="Running"), 70, True, id="lost"),
        pytest.param(
            a_pod(deleting="2026-03-01T12:00:00Z", node="", phase="Pending"),
            0,
            True,
            id="deleted-before-it-had-a-node",
        ),
    ],
)
def test_a_pod_has_ended_when_nothing_more_can_come(pod, seconds, ended_then):
    assert has_ended(pod, START + timedelta(seconds=seconds)) is ended_then


def test_a_pod_whose_sandbox_died_after_an_oom_is_the_agents_and_over():
    # Kubelet 1.34, cgroup v1: exit code 0, reason OOMKilled, phase Pending, nothing ever starts.
    gone = [{"type": "PodReadyToStartContainers", "status": "False"}]
    states = [STAGED, ended("agent", 0, "OOMKilled")]
    pod = a_pod(phase="Pending", conditions=gone, initContainerStatuses=states)
    assert has_ended(pod, START)
    assert failure_of(pod).failure_class is TASK


@pytest.mark.parametrize(
    "states",
    [
        pytest.param([], id="before-the-first-container"),
        pytest.param([STAGED], id="after-stage"),
        pytest.param([STAGED, running("agent")], id="while-the-agent-runs"),
    ],
)
def test_a_sandbox_that_is_not_ready_is_no_end_by_itself(states):
    gone = [{"type": "PodReadyToStartContainers", "status": "False"}]
    assert not has_ended(
        a_pod(phase="Pending", conditions=gone, initContainerStatuses=states), START
    )


def test_only_a_pod_that_is_being_deleted_can_be_lost():
    assert not is_lost(a_pod(phase="Running"), START + timedelta(days=1))
