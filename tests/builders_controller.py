"""Builders of the controller's tests: an operator over a fake cluster, with a clock to turn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from prometheus_client import CollectorRegistry

from fakes.bundles import FakeBundles
from fakes.cluster import START, FakeCluster
from fakes.kubelet import FakeKubelet
from proctor.api.egress import EgressMode
from proctor.api.outcome import Outcome
from proctor.api.termination import TrialVerdict
from proctor.api.usage import Bill, RunSpending, Usage
from proctor.controller.cluster import (
    EVAL_RUNS,
    EVAL_TRIALS,
    NETWORK_POLICIES,
    PODS,
    SERVICES,
    Change,
    Gone,
    Put,
)
from proctor.controller.confinement import Confinement, HostAlias
from proctor.controller.names import SELECTOR, TrialObject
from proctor.controller.planned import PlannedRun, plan_seen_run
from proctor.controller.pods import trial_pod
from proctor.controller.process import assemble
from proctor.controller.seen import RunKey, SeenPod, SeenRun, SeenTrial
from proctor.controller.seen_policy import SeenPolicy
from proctor.controller.settings import OperatorSettings
from proctor.controller.workers import PAUSE_SECONDS
from proctor.metrics.trials import OperatorMetrics
from proctor.plugins.builtin import builtin_registry

NAMESPACE = "team"
KEY = RunKey(NAMESPACE, "run")


NETWORK = {
    "gateway": {
        "service": "gateway",
        "namespace": "proctor",
        "port": 8080,
        "canary": 8082,
        "podLabels": {"app": "gateway"},
    }
}
GATEWAY_SERVICE = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "gateway", "namespace": "proctor"},
    "spec": {
        "clusterIP": "10.96.7.7",
        "clusterIPs": ["10.96.7.7"],
        "ports": [{"port": port, "targetPort": port} for port in (8080, 8081, 8082)],
    },
}
CONFINED = Confinement((HostAlias("gateway.proctor.svc", ("10.96.7.7",)),))


def settings(**changes: Any) -> OperatorSettings:
    """Settings with everything at its default."""
    values = {
        "runnerImage": "proctor/runner:1",
        "taskImage": "proctor/task:1",
        "network": NETWORK,
        **changes,
    }
    return OperatorSettings.model_validate(values)


def run_body(**spec: Any) -> dict[str, Any]:
    """An EvalRun; by default one task that needs neither model nor commands."""
    task = {
        "name": "greet",
        "prompt": "Say hello.",
        "criteria": [{"type": "file_exists", "path": "hello.txt"}],
    }
    return {
        "apiVersion": "proctor.dev/v1alpha1",
        "kind": "EvalRun",
        "metadata": {"name": KEY.name, "namespace": KEY.namespace},
        "spec": {
            "agent": {"type": "command", "options": {"command": "true"}},
            "tasks": [task],
            **spec,
        },
    }


def verdict(
    trial_uid: str, *, attempt: int = 1, score: str = "1", outcome: Outcome = Outcome.PASSED
) -> str:
    """A termination message of ``grade`` for a trial with one criterion."""
    value = Decimal(score)
    return (
        TrialVerdict(
            trial_uid=trial_uid,
            attempt=attempt,
            outcome=outcome,
            score=value,
            scores=(value,),
            passed=(value >= Decimal("0.9"),),
            bill=Bill(calls=2, usage=Usage(100, 20), cost_usd=Decimal("0.5")),
            turns=2,
            agent_ms=1500,
            checks_ms=None,
            grade_ms=300,
            digest="ab" * 32,
        )
        .to_message()
        .decode()
    )


@dataclass
class Bills:
    """A gateway that knows these bills, by trial UID and attempt."""

    known: dict[tuple[str, int], Bill] = field(default_factory=dict)
    spent: RunSpending | None = None

    async def bill(
        self, run_uid: str, trial_uid: str, attempt: int, since: datetime
    ) -> Bill | None:
        return self.known.get((trial_uid, attempt))

    async def spending(self, run_uid: str) -> RunSpending | None:
        return self.spent


class Operator:
    """One life of the operator process; ``pass_all`` brings it up to date."""

    def __init__(self, world: "World") -> None:
        self._world = world
        registry = CollectorRegistry()
        self.registry = registry
        self.metrics = OperatorMetrics(registry, "test")
        self.workers, self.watched = assemble(
            world.settings, world.cluster, self.metrics, world.bills, world.bundles, world.now
        )
        self._events: list[tuple[str, str, dict[str, Any]]] = []
        world.cluster.watch(lambda *event: self._events.append(event))
        cluster, mirrors = world.cluster, self.watched
        mirrors.runs.take(cluster.snapshot(EVAL_RUNS, SeenRun.from_body), None)
        mirrors.trials.take(cluster.snapshot(EVAL_TRIALS, SeenTrial.from_body), None)
        mirrors.pods.take(cluster.snapshot(PODS, SeenPod.from_body, selector=SELECTOR), None)
        policies = cluster.snapshot(NETWORK_POLICIES, SeenPolicy.from_body)
        mirrors.policies.take(policies, None)

    def hear(self) -> None:
        """Deliver what the watches have for it."""
        events, self._events = self._events, []
        for event, plural, body in events:
            if plural == "evalruns":
                self.watched.runs.take(_change(event, SeenRun.from_body(body)), None)
            elif plural == "evaltrials" and (trial := SeenTrial.from_body(body)):
                self.watched.trials.take(_change(event, trial), None)
            elif plural == "pods" and (pod := SeenPod.from_body(body)):
                self.watched.pods.take(_change(event, pod), None)
            elif plural == "networkpolicies":
                self.watched.policies.take(_change(event, SeenPolicy.from_body(body)), None)

    async def pass_all(self) -> None:
        """Passes until nothing is due at this moment; the clock moves by what passes wait."""
        for _ in range(100):
            self.hear()
            run = self.workers.due.take(self._world.now())
            if run is None:
                moment = self.workers.due.next_at()
                if moment is None or moment > self._world.now() + timedelta(seconds=1):
                    return
                self._world.at = moment
                continue
            try:
                await self.workers.reconcile(run)
            finally:
                again_at = self._world.now() + timedelta(seconds=PAUSE_SECONDS)
                self.workers.due.done(run, again_at)
        raise AssertionError("passes never come to rest")


class World:
    """A cluster, a kubelet, a clock, and an operator that can be restarted."""

    def __init__(self, **changes: Any) -> None:
        self.at = START
        self.settings = settings(**changes)
        self.cluster = FakeCluster(self.now)
        self.cluster.plant(SERVICES, GATEWAY_SERVICE)
        self.kubelet = FakeKubelet(self.cluster, NAMESPACE)
        self.bills = Bills()
        self.bundles = FakeBundles()
        self.operator = Operator(self)

    def now(self) -> datetime:
        return self.at

    def restart(self) -> None:
        """The operator dies and comes back; it remembers nothing."""
        self.operator = Operator(self)

    async def later(self, seconds: float) -> None:
        """Let time pass, then let the operator work."""
        self.at += timedelta(seconds=seconds)
        await self.operator.pass_all()

    async def apply(self, body: dict[str, Any]) -> None:
        """kubectl apply, and everything that follows at once."""
        await self.cluster.create(EVAL_RUNS, body)
        self.cluster.writes.clear()
        await self.operator.pass_all()

    async def settle(self) -> None:
        await self.operator.pass_all()

    def run(self) -> dict[str, Any]:
        (body,) = self.cluster.bodies(EVAL_RUNS)
        return body

    def condition(self, kind: str) -> tuple[str, str]:
        """Status and reason of a condition of the run."""
        found = {one["type"]: one for one in self.run()["status"]["conditions"]}[kind]
        return found["status"], found["reason"]

    def trials(self) -> list[dict[str, Any]]:
        return self.cluster.bodies(EVAL_TRIALS)

    def pods(self) -> list[dict[str, Any]]:
        return self.cluster.bodies(PODS)

    def pass_pod(self, pod: dict[str, Any], **changes: Any) -> None:
        """Let a pod end with a verdict."""
        (uid,) = [owner["uid"] for owner in pod["metadata"]["ownerReferences"]]
        attempt = int(pod["metadata"]["labels"]["proctor.dev/attempt"])
        message = verdict(uid, attempt=attempt, **changes)
        self.kubelet.grade(pod["metadata"]["name"], message)


def _change(event: str, value: Any) -> Change[Any]:
    return Gone(value) if event == "DELETED" else Put(value)


def seen_run(**spec: Any) -> SeenRun:
    """An EvalRun as a watch shows it."""
    body = run_body(**spec)
    body["metadata"] |= {
        "uid": "run-uid",
        "resourceVersion": "1",
        "generation": 1,
        "creationTimestamp": "2026-03-01T12:00:00Z",
    }
    return SeenRun.from_body(body)


def planned_run(*, changes: Mapping[str, Any] | None = None, **spec: Any) -> PlannedRun:
    """An EvalRun that was accepted; ``changes`` are settings."""
    trial, modes = settings(**(changes or {})).trial, frozenset(EgressMode)
    return plan_seen_run(seen_run(**spec), builtin_registry(), lambda model: True, modes, trial)


def first_pod(
    attempt: int = 1, changes: Mapping[str, Any] | None = None, **spec: Any
) -> dict[str, Any]:
    """The pod of the first trial of such a run; ``changes`` are settings."""
    planned = planned_run(changes=changes, **spec)
    trial = planned.desired[0].id
    owner = TrialObject("run-abc", "trial-uid", NAMESPACE, "run", "run-uid", trial)
    return trial_pod(
        owner,
        attempt,
        planned.cell(trial),
        planned.orders.places[trial.task, trial.variant],
        planned.policy,
        settings(**(changes or {})),
        CONFINED,
    )


def container(pod: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A container of a pod's document, init or not."""
    spec = pod["spec"]
    (found,) = [
        one for one in (*spec["initContainers"], *spec["containers"]) if one["name"] == name
    ]
    return found


COMMAND_TASK = {
    "name": "greet",
    "prompt": "Say hello.",
    "criteria": [{"type": "run_command", "command": "cat hello.txt", "expectedStdout": "hello"}],
}
MINI = {"type": "mini", "model": "claude-haiku-4-5"}
