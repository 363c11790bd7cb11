"""Why a pod does not start, within a minute and by name (pure; kubernetes-field 2.7)."""

import re
from datetime import datetime, timedelta

from proctor.api.conditions import Reason
from proctor.api.errors import PlatformError
from proctor.api.outcome import FailureClass
from proctor.controller.cluster import RefusedError
from proctor.controller.names import SERVICE_ACCOUNT, STAGE
from proctor.controller.seen import ContainerState, SeenPod
from proctor.engine.model import Waiting

UNFIT_ACCOUNT = "UnfitAccount"
"""Our own word for a ServiceAccount that trials must not run as."""

_NO_ACCOUNT = f'serviceaccount "{SERVICE_ACCOUNT}" not found'
"""The API server's words when somebody removed it after we had made it."""

SLOW_SANDBOX = timedelta(seconds=45)
"""A scheduled pod without a network or its volumes for so long is worth a word."""


def waiting_of(pod: SeenPod, now: datetime) -> Waiting | None:
    """Why ``pod``, whose agent has not started, waits; None: nothing is unusual."""
    scheduled = pod.conditions.get("PodScheduled")
    if scheduled and scheduled.status == "False" and scheduled.reason == "Unschedulable":
        since = scheduled.since or pod.identity.created_at
        return Waiting(Reason.UNSCHEDULABLE, scheduled.message, since)
    since = scheduled.since if scheduled and scheduled.since else pod.identity.created_at
    for state in pod.containers.values():
        found = _container(state, since)
        if found:
            return found
    for state in pod.services:
        if state.restarts or state.reason == "CrashLoopBackOff":
            return _not_ready(state, since)
    ready = pod.conditions.get("PodReadyToStartContainers")
    if pod.node and (ready is None or ready.status == "False") and now > since + SLOW_SANDBOX:
        message = f"volumes or network of the pod are not ready on {pod.node}: see its events"
        return Waiting(Reason.VOLUME_NOT_READY, message, since)
    return None


def refusal(error: RefusedError, now: datetime) -> Waiting:
    """Why the API server refused to create a pod.

    A quota frees itself, and a ServiceAccount that is away is made again; everything else that
    admission says it says again.
    """
    text = str(error)
    if error.reason == UNFIT_ACCOUNT or _NO_ACCOUNT in text:
        return Waiting(Reason.SERVICE_ACCOUNT_UNFIT, text, now)
    if "exceeded quota" in text:
        return Waiting(Reason.QUOTA_EXCEEDED, text, now)
    if "is being terminated" in text:
        return Waiting(Reason.ADMISSION_DENIED, text, now)
    return Waiting(
        Reason.ADMISSION_DENIED, text, now, fatal=True, failure_class=FailureClass.CONFIG
    )


def not_ready(error: PlatformError, now: datetime) -> Waiting:
    """Why no pod could be made: a Service of ours is away, and comes back."""
    return Waiting(Reason.NETWORK_NOT_READY, str(error), now)


def _container(state: ContainerState, since: datetime) -> Waiting | None:
    message = f"container {state.name}: {state.message or state.reason}"
    if state.reason in _IMAGE:
        # A node's own limit on pulls passes; what the registry says does not.
        fatal = "pull QPS exceeded" not in state.message
        return Waiting(
            Reason.IMAGE_PULL_FAILED, message, since, fatal, failure_class=FailureClass.CONFIG
        )
    if state.reason in _CONFIG and _MISSING_SECRET.search(state.message):
        named = "workspace.git.secretRef" if state.name == STAGE else "agent.secretEnv"
        remedy = f"create it in the run's namespace, or correct {named}"
        return Waiting(
            Reason.SECRET_MISSING,
            f"{message}: {remedy}",
            since,
            fatal=True,
            failure_class=FailureClass.CONFIG,
        )
    if state.reason in _CONFIG:
        return Waiting(
            Reason.CONTAINER_CONFIG_ERROR,
            message,
            since,
            fatal=True,
            failure_class=FailureClass.CONFIG,
        )
    return None


def _not_ready(state: ContainerState, since: datetime) -> Waiting:
    """A service ended, or the kubelet ended it because its port never answered."""
    message = (
        f"service {state.name} ended, or its port did not answer within readyTimeoutSeconds: "
        f"see kubectl logs POD -c {state.name} --previous"
    )
    return Waiting(
        Reason.SERVICE_NOT_READY, message, since, fatal=True, failure_class=FailureClass.CONFIG
    )


_IMAGE = frozenset(
    {
        "ErrImagePull",
        "ImagePullBackOff",
        "InvalidImageName",
        "ErrImageNeverPull",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
    }
)
_MISSING_SECRET = re.compile(r'secret "[^"]*" not found|couldn\'t find key \S+ in Secret')
"""The kubelet's words."""

_CONFIG = frozenset({"CreateContainerConfigError", "CreateContainerError", "RunContainerError"})
