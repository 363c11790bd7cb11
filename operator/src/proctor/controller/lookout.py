"""When pods become worth another look although nothing happens to them (pure)."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from proctor.controller.ending import LOST_AFTER
from proctor.controller.names import AGENT, FINALIZER
from proctor.controller.pending import SLOW_SANDBOX
from proctor.controller.seen import SeenPod


def look_again_at(pods: Mapping[str, SeenPod], now: datetime) -> datetime | None:
    """The earliest such moment after ``now``; None: only events matter."""
    moments = (moment for pod in pods.values() for moment in _moments(pod) if moment > now)
    return min(moments, default=None)


def _moments(pod: SeenPod) -> tuple[datetime, ...]:
    if pod.identity.deleting is not None:
        return (pod.identity.deleting + LOST_AFTER,) if FINALIZER in pod.finalizers else ()
    agent = pod.containers.get(AGENT)
    if pod.phase != "Pending" or (agent is not None and agent.has_started):
        return ()
    scheduled = pod.conditions.get("PodScheduled")
    since = scheduled.since if scheduled and scheduled.since else pod.identity.created_at
    return (since + SLOW_SANDBOX + timedelta(seconds=1),)
