"""How a pod ended: its verdict, or whose fault it is that there is none (pure).

The classes are those of kubernetes-field 2.7 and the rules on blame: once an agent's process may
have started, only the kubelet's or the node's own word makes an end the platform's fault.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta

from proctor.api.outcome import FailureClass
from proctor.api.report import (
    EXIT_CANNOT_START,
    EXIT_GATEWAY_UNREACHABLE,
    EXIT_GIT_REFUSED,
    EXIT_GIT_UNREACHABLE,
    EXIT_NETWORK_OPEN,
    NETWORK_NOT_ENFORCED,
    NOT_STARTED_EXITS,
)
from proctor.api.termination import TerminationError, TrialVerdict
from proctor.controller.names import AGENT, CHECKS, FILL, GRADE, STAGE
from proctor.controller.seen import NEVER_STARTED, ContainerState, SeenPod
from proctor.engine.model import Failure

LOST_AFTER = timedelta(seconds=60)
"""A pod that is still there so long after its grace is on a node that nobody hears of."""

_UNKNOWN = "ContainerStatusUnknown"


def has_ended(pod: SeenPod, now: datetime) -> bool:
    """Whether nothing more is to come of it."""
    grade = pod.containers.get(GRADE)
    if grade is not None and grade.exit_code is not None:
        return True
    if pod.phase in ("Succeeded", "Failed") or is_stuck(pod):
        return True
    if pod.identity.deleting is None:
        return False
    return not pod.node or is_lost(pod, now)


def is_stuck(pod: SeenPod) -> bool:
    """Whether the kubelet killed it between two containers, and says Pending for ever.

    Seen with kubelet 1.34 on cgroup v1: a child of ``agent`` runs out of memory, the runner ends
    with 0, the container is called OOMKilled nevertheless, and the next one never starts.
    """
    sandbox = pod.conditions.get("PodReadyToStartContainers")
    started = [state for state in pod.phases if state.has_started]
    return (
        pod.phase == "Pending"
        and sandbox is not None
        and sandbox.status == "False"
        and any(state.name != STAGE for state in started)
        and all(state.exit_code is not None for state in started)
    )


def is_lost(pod: SeenPod, now: datetime) -> bool:
    """Whether its deletion should have ended it long ago."""
    deleting = pod.identity.deleting
    return deleting is not None and now >= deleting + LOST_AFTER


def verdict_of(pod: SeenPod, trial_uid: str) -> TrialVerdict | Failure:
    """The verdict in the termination message of ``grade``, or why there is none.

    Of a pod that has ended. A verdict of another trial or attempt is no verdict.
    """
    grade = pod.containers.get(GRADE)
    if grade is None or grade.exit_code is None or not grade.message:
        return failure_of(pod)
    try:
        verdict = TrialVerdict.from_message(grade.message)
    except TerminationError as error:
        return Failure(FailureClass.GRADER, "NoVerdict", str(error), started=True)
    if (verdict.trial_uid, verdict.attempt) != (trial_uid, pod.attempt):
        message = f"verdict of {verdict.trial_uid} attempt {verdict.attempt}"
        return Failure(FailureClass.GRADER, "ForeignVerdict", message, started=True)
    return verdict


def failure_of(pod: SeenPod) -> Failure:
    """Why an ended pod left no verdict."""
    started = _started(pod, AGENT)
    return _platform(pod, started) or _container(pod, started)


def _platform(pod: SeenPod, started: bool) -> Failure | None:
    """What the kubelet, the node or an administrator says about the whole pod."""
    if pod.reason == "DeadlineExceeded":
        return _deadline(pod, started)
    if pod.reason == "Evicted" and any(sign in pod.message for sign in _OWN_DISK):
        # What fills the disk before an agent runs is the task's image, files or repository.
        failure_class = FailureClass.TASK if started else FailureClass.CONFIG
        return Failure(failure_class, "Evicted", pod.message, started)
    disruption = pod.conditions.get("DisruptionTarget")
    if disruption and disruption.status == "True":
        message = disruption.message or pod.message
        return Failure(FailureClass.INFRA, disruption.reason or "Disrupted", message, started)
    if pod.reason:
        return Failure(FailureClass.INFRA, pod.reason, pod.message, started)
    if pod.identity.deleting is not None:
        message = "somebody deleted its pod, or its node was lost"
        return Failure(FailureClass.INFRA, "PodDeleted", message, started)
    return None


def _deadline(pod: SeenPod, started: bool) -> Failure:
    """The backstop: the agent's fault while its code runs, ours before, between and after.

    The kubelet starts a container only when nothing of the one before is left, so nobody but the
    platform keeps the next one from starting.
    """
    last = pod.containers.get(CHECKS if _started(pod, CHECKS) else AGENT)
    between = last is not None and last.exit_code == 0
    if _started(pod, GRADE):
        failure_class = FailureClass.GRADER
    elif between:
        failure_class = FailureClass.INFRA
    else:
        failure_class = FailureClass.TASK if started else FailureClass.CAPACITY
    return Failure(failure_class, "DeadlineExceeded", pod.message, started)


def _container(pod: SeenPod, started: bool) -> Failure:
    ended = [state for state in pod.phases if state.exit_code is not None]
    lost = next((state for state in ended if state.reason == _UNKNOWN), None)
    if lost is not None:
        return Failure(FailureClass.INFRA, _UNKNOWN, _words(lost), started)
    bad = next((state for state in ended if state.exit_code or state.reason == "OOMKilled"), None)
    if bad is None:
        message = "no container says why; the kubelet may not have finished its report"
        return Failure(FailureClass.INFRA, "NoVerdict", message, started)
    return _blame(bad, started)


def _blame(bad: ContainerState, started: bool) -> Failure:
    words = _words(bad)
    if bad.reason in NEVER_STARTED or bad.exit_code == EXIT_CANNOT_START:
        return Failure(FailureClass.CONFIG, "RunnerCannotStart", words, bad.name in (CHECKS, GRADE))
    if bad.name == STAGE and bad.exit_code == EXIT_GIT_REFUSED:
        return Failure(FailureClass.CONFIG, "GitRefused", bad.message or words)
    if bad.name == STAGE:
        return Failure(FailureClass.INFRA, _OF_STAGE.get(bad.exit_code, "StageFailed"), words)
    if bad.name == FILL:
        return Failure(FailureClass.CONFIG, "WorkspaceNotFilled", words)
    if bad.exit_code in NOT_STARTED_EXITS and bad.reason != "OOMKilled" and bad.name != GRADE:
        reason = f"{bad.name.capitalize()}NotStarted"
        return Failure(FailureClass.INFRA, reason, words, bad.name != AGENT)
    if bad.name in (AGENT, CHECKS):
        reason = "OOMKilled" if bad.reason == "OOMKilled" else f"{bad.name.capitalize()}Ended"
        return Failure(FailureClass.TASK, reason, words, started)
    reason = "OOMKilled" if bad.reason == "OOMKilled" else "NoVerdict"
    return Failure(FailureClass.GRADER, reason, words, started)


def _started(pod: SeenPod, name: str) -> bool:
    """Whether a process of the container may have run."""
    state = pod.containers.get(name)
    return state is not None and state.has_started and state.reason not in NEVER_STARTED


def _words(state: ContainerState) -> str:
    said = f": {state.message}" if state.message else ""
    return (
        f"container {state.name} ended with {state.exit_code} ({state.reason or 'no reason'}){said}"
    )


_OF_STAGE: Mapping[int | None, str] = {
    EXIT_NETWORK_OPEN: NETWORK_NOT_ENFORCED,
    EXIT_GATEWAY_UNREACHABLE: "GatewayUnreachable",
    EXIT_GIT_UNREACHABLE: "GitUnreachable",
}
_OWN_DISK = (
    "Usage of EmptyDir volume",
    "ephemeral local storage usage exceeds",
    "exceeded its local ephemeral storage limit",
)
"""The kubelet's words for a pod that filled its own disk; a full node sounds different."""
