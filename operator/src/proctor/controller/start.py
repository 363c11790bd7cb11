"""Start an attempt: what it needs from the namespace, its EvalTrial, its pod.

Everything is created under a fixed name. A 409 is success only after the object was read back and
is what we would have made.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from proctor.api.base import API_VERSION
from proctor.api.conditions import Reason
from proctor.api.evaltrial import EvalTrialSpec
from proctor.controller.accounts import account_problem, trial_account
from proctor.controller.cluster import (
    CONFIG_MAPS,
    EVAL_TRIALS,
    PODS,
    SERVICE_ACCOUNTS,
    Body,
    Cluster,
    ClusterError,
    ExistsError,
    Kind,
    RefusedError,
)
from proctor.controller.confinement import Confinement
from proctor.controller.fetching import pass_seconds
from proctor.controller.memory import RunMemory
from proctor.controller.names import (
    EGRESS_PASS,
    FETCH_PASS,
    POD_DIGEST,
    SERVICE_ACCOUNT,
    TrialObject,
    run_labels,
)
from proctor.controller.network import Network, NetworkNotReadyError
from proctor.controller.pending import UNFIT_ACCOUNT, not_ready, refusal
from proctor.controller.planned import PlannedRun
from proctor.controller.pods import (
    TOKEN_SLACK_SECONDS,
    deadline_seconds,
    owner_reference,
    trial_pod,
)
from proctor.controller.seen import SeenPod, SeenTrial
from proctor.controller.settings import OperatorSettings
from proctor.controller.shape import owner_uid, shape_digest
from proctor.controller.watched import Watched
from proctor.engine.model import Start
from proctor.planning.repositories import host_of

_NO_OWNER_YET = "-"


@dataclass(frozen=True, slots=True)
class Starter:
    """Starts attempts in one cluster.

    Args:
        shared: Held while what attempts share is made, so that each is asked for once.
    """

    cluster: Cluster
    watched: Watched
    settings: OperatorSettings
    network: Network
    shared: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def start(
        self, planned: PlannedRun, start: Start, memory: RunMemory, now: datetime
    ) -> None:
        """Create whatever of the attempt is missing, its pod last.

        A refusal is remembered, not raised: it becomes the reason why the attempt waits.
        """
        name, cell = planned.names[start.trial], planned.cell(start.trial)
        mode, fetches = cell.egress.mode, cell.fetches
        try:
            async with self.shared:
                await self._account(planned.key.namespace, memory)
                memory.unfit_since = None
                await self._config_maps(planned, start, memory)
                await self.network.keep(planned.key.namespace, (mode,), fetches=fetches)
                confinement = await self.network.confinement(mode, fetches=fetches)
            trial = await self._trial(planned, start, confinement)
            await self._pod(planned, start, trial, confinement)
        except NetworkNotReadyError as error:
            memory.stuck = not_ready(error, now)
        except RefusedError as error:
            waiting = refusal(error, now)
            if waiting.reason is Reason.SERVICE_ACCOUNT_UNFIT:
                memory.unfit_since = memory.unfit_since or now
                memory.made.discard(SERVICE_ACCOUNT)
            exists = name in self.watched.trials.of(planned.key)
            if waiting.fatal and exists:
                memory.refused[name, start.number] = waiting
            else:
                memory.stuck = waiting

    async def _account(self, namespace: str, memory: RunMemory) -> None:
        """Make it, or look at it: once a run, because others may change it at any time."""
        if SERVICE_ACCOUNT in memory.made:
            return
        body = trial_account(namespace)
        found = await self._ensure(SERVICE_ACCOUNTS, body, lambda _: True)
        problem = account_problem(found)
        if problem is not None:
            raise RefusedError(403, UNFIT_ACCOUNT, problem)
        memory.made.add(SERVICE_ACCOUNT)

    async def _config_maps(self, planned: PlannedRun, start: Start, memory: RunMemory) -> None:
        for body in planned.config_maps(start.trial):
            name = body["metadata"]["name"]
            if name not in memory.made:
                await self._ensure(CONFIG_MAPS, body, partial(_same_data, body))
                memory.made.add(name)

    async def _trial(
        self, planned: PlannedRun, start: Start, confinement: Confinement
    ) -> SeenTrial:
        """The EvalTrial with this attempt as its current one, created or brought up to date."""
        name = planned.names[start.trial]
        digest = shape_digest(self.document(planned, start, _NO_OWNER_YET, confinement))
        known = self.watched.trials.of(planned.key).get(name)
        if known is None:
            body = trial_body(planned, start, digest)
            is_ours = partial(_has_owner, planned.uid)
            known = self._put_trial(await self._ensure(EVAL_TRIALS, body, is_ours))
        if (known.spec.attempt, known.pod_digest) != (start.number, digest):
            patch = {
                "metadata": {"uid": known.identity.uid, "annotations": {POD_DIGEST: digest}},
                "spec": {"attempt": start.number},
            }
            namespace = planned.key.namespace
            known = self._put_trial(await self.cluster.patch(EVAL_TRIALS, namespace, name, patch))
        return known

    async def _pod(
        self, planned: PlannedRun, start: Start, trial: SeenTrial, confinement: Confinement
    ) -> None:
        body = self.document(planned, start, trial.identity.uid, confinement)
        self._give_pass(planned, start, body)
        try:
            found = await self.cluster.create(PODS, body)
        except ExistsError:
            name = body["metadata"]["name"]
            read = await self.cluster.get(PODS, planned.key.namespace, name)
            if read is None or read["metadata"].get("deletionTimestamp"):
                return  # an older one on its way out: its end brings the run back to us
            if not _has_owner(trial.identity.uid, read):
                raise _taken("pod", name) from None
            found = read
        seen = SeenPod.from_body(found)
        if seen is not None:
            self.watched.pods.put(seen)

    def _give_pass(self, planned: PlannedRun, start: Start, body: dict[str, Any]) -> None:
        """Let the pod reach the hosts that its trial names, for as long as it may live.

        What ``stage`` fetches from it may reach for as long as that can take.
        """
        cell = planned.cell(start.trial)
        seconds = deadline_seconds(cell, planned.policy, self.settings) + TOKEN_SLACK_SECONDS
        text = self.network.egress_pass(cell.egress, owner_uid(body), start.number, seconds)
        if text is not None:
            body["metadata"]["annotations"][EGRESS_PASS] = text
        if cell.git is not None:
            seconds = pass_seconds(planned.policy)
            hosts = (host_of(cell.git),)
            text = self.network.signed_pass(hosts, owner_uid(body), start.number, seconds)
            body["metadata"]["annotations"][FETCH_PASS] = text or ""

    async def _ensure(self, kind: Kind, body: Body, is_ours: Callable[[Body], bool]) -> Body:
        """Create, or read back what exists.

        Raises:
            RefusedError: What exists is not what we would have made.
        """
        meta = body["metadata"]
        try:
            return await self.cluster.create(kind, body)
        except ExistsError as error:
            found = await self.cluster.get(kind, meta["namespace"], meta["name"])
            if found is None:
                raise ClusterError(error.status, "Vanished", str(error)) from error
            if not is_ours(found):
                raise _taken(kind.name, meta["name"]) from error
            return found

    def _put_trial(self, body: Body) -> SeenTrial:
        seen = SeenTrial.from_body(body)
        if seen is None:
            raise _taken("EvalTrial", body["metadata"]["name"])
        self.watched.trials.put(seen)
        return seen

    def document(
        self, planned: PlannedRun, start: Start, trial_uid: str, confinement: Confinement
    ) -> dict[str, Any]:
        """The pod of an attempt, as it is asked for."""
        trial = start.trial
        owner = TrialObject(
            name=planned.names[trial],
            uid=trial_uid,
            namespace=planned.key.namespace,
            run_name=planned.key.name,
            run_uid=planned.uid,
            trial=trial,
        )
        return trial_pod(
            owner,
            start.number,
            planned.cell(trial),
            planned.orders.places[trial.task, trial.variant],
            planned.policy,
            self.settings,
            confinement,
        )


def trial_body(planned: PlannedRun, start: Start, pod_digest: str) -> dict[str, Any]:
    """The EvalTrial of a trial whose attempt ``start.number`` is about to start."""
    trial, cell = start.trial, planned.cell(start.trial)
    spec = EvalTrialSpec(
        run_name=planned.key.name,
        run_uid=planned.uid,
        run_budget_usd=planned.budget_usd,
        task=trial.task,
        variant=trial.variant,
        repeat=trial.repeat,
        agent=cell.agent,
        model=cell.model,
        attempt=start.number,
        limits=cell.limits,
        models=planned.models,
        criteria=cell.criteria,
    )
    return {
        "apiVersion": API_VERSION,
        "kind": "EvalTrial",
        "metadata": {
            "name": planned.names[trial],
            "namespace": planned.key.namespace,
            "labels": run_labels(planned.key.name, planned.uid),
            "annotations": {POD_DIGEST: pod_digest},
            "ownerReferences": [
                owner_reference(API_VERSION, "EvalRun", planned.key.name, planned.uid)
            ],
        },
        "spec": spec.model_dump(mode="json", by_alias=True, exclude_none=True),
    }


def _same_data(wanted: Body, found: Body) -> bool:
    return bool(found.get("immutable")) and found.get("data") == wanted["data"]


def _has_owner(uid: str, found: Body) -> bool:
    return owner_uid(found) == uid


def _taken(kind: str, name: str) -> RefusedError:
    message = f"{kind} {name} exists and is not what Proctor makes: delete it"
    return RefusedError(409, "NameTaken", message)
