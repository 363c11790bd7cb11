"""What pods say of their network → the engine's facts (pure)."""

from collections.abc import Collection

from proctor.api.report import EXIT_NETWORK_OPEN, NETWORK_CLOSED, NETWORK_OPEN
from proctor.controller.names import STAGE
from proctor.controller.seen import SeenPod
from proctor.engine.network import NetworkFacts


def network_facts(pods: Collection[SeenPod], others: frozenset[str]) -> NetworkFacts:
    """The finding of each pod's ``stage``, which runs no code of the task or the agent."""
    stages = [pod.containers[STAGE] for pod in pods if STAGE in pod.containers]
    findings = {stage.message for stage in stages if stage.exit_code == 0}
    refused = [stage.message for stage in stages if stage.exit_code == EXIT_NETWORK_OPEN]
    return NetworkFacts(
        closed=NETWORK_CLOSED in findings,
        open=NETWORK_OPEN in findings,
        refused=refused[0] if refused else None,
        others=tuple(sorted(others)),
    )
