"""The pod of one attempt, as a document (pure). ``docs/operations.md`` shows it.

Which container sees what is the product's promise: hidden parts and the judge's key are mounted in
``checks`` and ``grade`` only, the agent's key in ``agent`` only, an API server's token nowhere.
"""

from collections.abc import Mapping
from typing import Any

from proctor.api.container import Resources
from proctor.api.egress import EgressMode
from proctor.api.evalrun import FailurePolicy
from proctor.controller.confinement import (
    Confinement,
    fetch_pass_volume,
    names,
    pass_volume,
)
from proctor.controller.containers import (
    Mounts,
    Sandbox,
    agent,
    checks,
    fill,
    grade,
    stage,
)
from proctor.controller.fetching import FETCHED_VOLUME
from proctor.controller.loop import loop
from proctor.controller.names import (
    AGENT_AUDIENCE,
    ATTEMPT_LABEL,
    EGRESS_LABEL,
    FETCH_LABEL,
    FETCHES_GIT,
    FINALIZER,
    JUDGE_AUDIENCE,
    RESULTS_AUDIENCE,
    SERVICE_ACCOUNT,
    TRIAL_LABEL,
    TrialObject,
    pod_name,
    run_labels,
)
from proctor.controller.orders import Placed
from proctor.controller.pod_template import placement, pull_secrets, template_volumes
from proctor.controller.security import pod_fields, pod_security
from proctor.controller.services import service_names, services
from proctor.controller.settings import OperatorSettings
from proctor.planning.model import Cell

DEADLINE_SLACK_SECONDS = 300
"""Beyond all limits of its own a pod gets this much before the kubelet ends it."""

TOKEN_SLACK_SECONDS = 600
"""A client reads its key once, so a token outlives every deadline by this much."""


def trial_pod(
    owner: TrialObject,
    attempt: int,
    cell: Cell,
    orders: Placed,
    policy: FailurePolicy,
    settings: OperatorSettings,
    confinement: Confinement,
) -> dict[str, Any]:
    """The pod of attempt ``attempt`` (from 1), complete enough to be compared when read back."""
    seconds = deadline_seconds(cell, policy, settings)
    sandbox = Sandbox(
        cell=cell,
        settings=settings,
        mounts=Mounts.of(cell),
        runner_image=settings.runner_image,
        task_image=cell.image or settings.task_image,
    )
    before = [stage(sandbox)]
    if cell.from_image:
        before.append(fill(sandbox))
    if cell.checks_in_place:
        before.append(loop(sandbox))
    before += [*services(sandbox), agent(sandbox)]
    if cell.orders.checks is not None and not cell.checks_in_place:
        before.append(checks(sandbox))
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "serviceAccountName": SERVICE_ACCOUNT,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        **names((*confinement.aliases, *service_names(cell.services)), confinement.has_dns),
        "activeDeadlineSeconds": seconds,
        "terminationGracePeriodSeconds": 10,
        "securityContext": pod_security(cell, settings.trial),
        "initContainers": before,
        "containers": [grade(sandbox, owner, attempt)],
        "volumes": _volumes(cell, orders, seconds + TOKEN_SLACK_SECONDS),
        **pod_fields(cell, settings.trial),
    }
    if settings.results is not None:
        token = _token("results-token", RESULTS_AUDIENCE, seconds + TOKEN_SLACK_SECONDS)
        spec["volumes"].append(token)
    pulls = pull_secrets(cell.pod, settings.image_pull_secrets)
    if pulls:
        spec["imagePullSecrets"] = pulls
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": _metadata(owner, attempt, cell),
        "spec": {**placement(cell.pod), **spec},
    }


def deadline_seconds(cell: Cell, policy: FailurePolicy, settings: OperatorSettings) -> int:
    """The backstop; it counts image pulls, so it holds the time that a pod may wait."""
    limits = cell.task_timeout_seconds + cell.grade_timeout_seconds
    sending = settings.results.upload_seconds if settings.results else 0
    return policy.pending_timeout_seconds + limits + sending + DEADLINE_SLACK_SECONDS


def owner_reference(api_version: str, kind: str, name: str, uid: str) -> dict[str, Any]:
    """A controlling owner."""
    return {
        "apiVersion": api_version,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _metadata(owner: TrialObject, attempt: int, cell: Cell) -> dict[str, Any]:
    return {
        "name": pod_name(owner.name, attempt),
        "namespace": owner.namespace,
        "labels": {
            **cell.pod.labels,
            **run_labels(owner.run_name, owner.run_uid),
            TRIAL_LABEL: owner.name,
            ATTEMPT_LABEL: str(attempt),
            EGRESS_LABEL: cell.egress.mode.value,
            **({FETCH_LABEL: FETCHES_GIT} if cell.fetches else {}),
            "sidecar.istio.io/inject": "false",
        },
        "annotations": {
            **cell.pod.annotations,
            "proctor.dev/task": owner.trial.task,
            "proctor.dev/variant": owner.trial.variant,
            "proctor.dev/repeat": str(owner.trial.repeat),
            "linkerd.io/inject": "disabled",
            "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
            "karpenter.sh/do-not-disrupt": "true",
        },
        "finalizers": [FINALIZER],
        "ownerReferences": [
            owner_reference("proctor.dev/v1alpha1", "EvalTrial", owner.name, owner.uid)
        ],
    }


def _volumes(cell: Cell, orders: Placed, token_seconds: int) -> list[dict[str, Any]]:
    mounts, disk = Mounts.of(cell), _disk(cell.resources)
    volumes = [
        _folder("runtime", "512Mi"),
        _folder("workspace", disk),
        _folder("agent-evidence", "1Gi"),
        _folder("record", _record_size(cell)),
        _folder("agent-tmp", disk),
        _folder("grade-tmp", "1Gi"),
        *(_folder(name, disk) for name in mounts.passed),
        _orders("agent-orders", orders.agent),
        _orders("grade-orders", orders.grade),
    ]
    if orders.checks is not None and cell.checks_in_place:
        volumes += [
            _orders("checks-orders", orders.checks),
            _folder("checks-scratch", disk),
            _folder("loop-kept", disk),
            {"name": "handshake", "emptyDir": {"medium": "Memory", "sizeLimit": "64Ki"}},
        ]
    elif orders.checks is not None:
        volumes += [
            _orders("checks-orders", orders.checks),
            _folder("checks-evidence", "1Gi"),
            _folder("checks-workspace", disk),
            _folder("checks-scratch", disk),
            _folder("checks-tmp", disk),
            *(_folder(f"checks-{name}", disk) for name in mounts.passed),
        ]
    if cell.fetches:
        volumes += [_folder(FETCHED_VOLUME, disk), fetch_pass_volume()]
    if cell.egress.mode is EgressMode.ALLOW_LIST:
        volumes.append(pass_volume())
    if cell.agent_asks_models:
        volumes.append(_token("agent-token", AGENT_AUDIENCE, token_seconds))
    if cell.needs_model:
        volumes.append(_token("judge-token", JUDGE_AUDIENCE, token_seconds))
    return [*volumes, *template_volumes(cell.pod)]


def _record_size(cell: Cell) -> str:
    kept = cell.orders.grade.artifacts
    return "1Gi" if kept is None else f"{1024 + (kept.max_bytes >> 20)}Mi"


def _disk(resources: Resources) -> str:
    return resources.ephemeral_storage or "4Gi"


def _folder(name: str, size: str) -> dict[str, Any]:
    return {"name": name, "emptyDir": {"sizeLimit": size}}


def _orders(name: str, place: tuple[str, str]) -> dict[str, Any]:
    config_map, key = place
    return {
        "name": name,
        "configMap": {
            "name": config_map,
            "items": [{"key": key, "path": "orders.json"}],
            "defaultMode": 0o444,
        },
    }


def _token(name: str, audience: str, seconds: int) -> dict[str, Any]:
    source: Mapping[str, Any] = {
        "serviceAccountToken": {
            "audience": audience,
            "expirationSeconds": seconds,
            "path": "token",
        }
    }
    return {"name": name, "projected": {"sources": [source], "defaultMode": 0o440}}
