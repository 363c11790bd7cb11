"""Looks at pods that are not what was asked for: what changed, and whether that is allowed."""

from dataclasses import dataclass
from typing import Any

from proctor.controller.changes import not_allowed, pod_changes
from proctor.controller.cluster import EVAL_TRIALS, PODS, Body, Cluster
from proctor.controller.memory import RunMemory
from proctor.controller.names import POD_CHANGES, POD_DIGEST
from proctor.controller.network import NetworkNotReadyError
from proctor.controller.observe import is_asked_for, is_over
from proctor.controller.planned import PlannedRun
from proctor.controller.seen import SeenPod, SeenTrial
from proctor.controller.shape import shape_digest
from proctor.controller.start import Starter
from proctor.controller.watched import Watched
from proctor.engine.model import Start

_NOTE_CHARACTERS = 2000


@dataclass(frozen=True, slots=True)
class Admitted:
    """Asks for each such pod once.

    What is allowed is written into its EvalTrial, once an attempt: what changes later is not
    admission's doing.
    """

    cluster: Cluster
    watched: Watched
    starter: Starter

    async def look(self, planned: PlannedRun, memory: RunMemory) -> bool:
        """Accept what is allowed; remember what is not; whether every pod could be compared.

        Raises:
            ClusterError: A request failed; come again.
        """
        trials, all_compared = self.watched.trials.of(planned.key), True
        for pod in self.watched.pods.of(planned.key).values():
            trial = trials.get(pod.trial)
            if trial is not None and _is_in_question(pod, trial, planned, memory):
                all_compared &= await self._look(planned, memory, pod, trial)
        return all_compared

    async def _look(
        self, planned: PlannedRun, memory: RunMemory, pod: SeenPod, trial: SeenTrial
    ) -> bool:
        identity = pod.identity
        found = await self.cluster.get(PODS, identity.namespace, identity.name)
        if found is None or found["metadata"]["uid"] != identity.uid:
            return True
        start = Start(planned.trials[pod.trial], pod.attempt)
        cell = planned.cell(start.trial)
        mode, fetches = cell.egress.mode, cell.fetches
        try:
            confinement = await self.starter.network.confinement(mode, fetches=fetches)
        except NetworkNotReadyError:
            return False  # what was asked for cannot be told now
        asked = self.starter.document(planned, start, trial.identity.uid, confinement)
        changes = pod_changes(asked, found)
        refused = not_allowed(changes, self.starter.settings.trial.allow_changes)
        if refused or not changes or trial.pod_changes:
            memory.changed[pod.trial, pod.attempt] = refused or changes or ("pod/spec",)
            return True
        await self._accept(trial, pod.attempt, changes, found)
        return True

    async def _accept(
        self, trial: SeenTrial, attempt: int, changes: tuple[str, ...], found: Body
    ) -> None:
        identity = trial.identity
        note = "\n".join([str(attempt), *changes])[:_NOTE_CHARACTERS]
        notes = {POD_DIGEST: shape_digest(found), POD_CHANGES: note}
        patch: dict[str, Any] = {"metadata": {"uid": identity.uid, "annotations": notes}}
        body = await self.cluster.patch(EVAL_TRIALS, identity.namespace, identity.name, patch)
        seen = SeenTrial.from_body(body)
        if seen is not None:
            self.watched.trials.put(seen)


def _is_in_question(pod: SeenPod, trial: SeenTrial, planned: PlannedRun, memory: RunMemory) -> bool:
    return (
        pod.trial in planned.trials
        and pod.owner == trial.identity.uid
        and pod.attempt == trial.spec.attempt
        and not is_over(trial, pod.attempt)
        and not is_asked_for(pod, trial)
        and (pod.trial, pod.attempt) not in memory.changed
    )
