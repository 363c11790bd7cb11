"""Orders of all trials of a run → immutable ConfigMaps, and where each order stands (pure).

What the agent may see and what is hidden from it are never in one object, so that no mistake in a
mount can show it. Objects are named by digest and shared by all trials, so they cost no writes
per trial.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.api.errors import Problem, SpecError
from proctor.controller.names import digest, run_labels
from proctor.planning.model import RunPlan

PACK_BYTES = 512 * 1024
LARGEST_BYTES = 1_000_000
"""A ConfigMap holds 1 MiB; an order that alone exceeds the pack size gets one of its own."""

_SHORTEN_HIDDEN = (
    "shorten criteria and reference; not into the image, where the agent would see them"
)

Place = tuple[str, str]
"""ConfigMap and key."""

CellKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Placed:
    """Where the orders of one (task, variant) stand; ``checks`` is None when there are none."""

    agent: Place
    grade: Place
    checks: Place | None


@dataclass(frozen=True, slots=True)
class PackedOrders:
    """ConfigMap bodies by name, and the places of each cell's orders.

    Args:
        size_bytes: Of all texts in the bodies; a plan holds about as much again.
    """

    config_maps: Mapping[str, Mapping[str, Any]]
    places: Mapping[CellKey, Placed]
    size_bytes: int


def pack_orders(
    plan: RunPlan, namespace: str, run_name: str, run_uid: str, owner: Mapping[str, Any]
) -> PackedOrders:
    """Pack the orders of every cell.

    Raises:
        SpecError: Files and prompts of a task are too large for the cluster.
    """
    visible = {key: _text(cell.orders.agent.to_json()) for key, cell in plan.cells.items()}
    graded = {key: _text(cell.orders.grade.to_json()) for key, cell in plan.cells.items()}
    checked = {
        key: _text(cell.orders.checks.to_json())
        for key, cell in plan.cells.items()
        if cell.orders.checks is not None
    }
    _refuse_large(visible.items(), "put large files into the task's image")
    _refuse_large([*graded.items(), *checked.items()], _SHORTEN_HIDDEN)
    prefix = (namespace, run_name, run_uid)
    shown, shown_at = _pack(visible.values(), "agent", prefix, owner)
    hidden, hidden_at = _pack([*graded.values(), *checked.values()], "hidden", prefix, owner)
    places = {
        key: Placed(
            agent=shown_at[visible[key]],
            grade=hidden_at[graded[key]],
            checks=hidden_at[checked[key]] if key in checked else None,
        )
        for key in plan.cells
    }
    texts = {*visible.values(), *graded.values(), *checked.values()}
    return PackedOrders({**shown, **hidden}, places, sum(len(one.encode()) for one in texts))


def config_map(
    name: str, data: Mapping[str, str], prefix: tuple[str, str, str], owner: Mapping[str, Any]
) -> dict[str, Any]:
    """An immutable ConfigMap of a run; ``prefix`` is its namespace, name and UID."""
    namespace, run_name, run_uid = prefix
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": run_labels(run_name, run_uid),
            "ownerReferences": [dict(owner)],
        },
        "immutable": True,
        "data": dict(data),
    }


def _pack(
    texts: Iterable[str], part: str, prefix: tuple[str, str, str], owner: Mapping[str, Any]
) -> tuple[dict[str, Mapping[str, Any]], dict[str, Place]]:
    """ConfigMaps that hold each distinct text once, and the place of each text."""
    _, run_name, run_uid = prefix
    bodies: dict[str, Mapping[str, Any]] = {}
    places: dict[str, Place] = {}
    for group in _groups(sorted(set(texts))):
        data = {f"{digest(text)}.json": text for text in group}
        name = f"{run_name}-{part}-{digest(run_uid, *group)}"
        bodies[name] = config_map(name, data, prefix, owner)
        places |= {text: (name, f"{digest(text)}.json") for text in group}
    return bodies, places


def _groups(texts: Sequence[str]) -> Iterable[list[str]]:
    group: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if group and size + length > PACK_BYTES:
            yield group
            group, size = [], 0
        group.append(text)
        size += length
    if group:
        yield group


def _refuse_large(orders: Iterable[tuple[CellKey, str]], remedy: str) -> None:
    problems = {
        task: Problem(
            field=f"spec.tasks[{task}]",
            message=f"its files and prompts are {len(text.encode())} bytes as orders, "
            f"at most {LARGEST_BYTES} fit into a ConfigMap",
            remedy=remedy,
        )
        for (task, _), text in orders
        if len(text.encode()) > LARGEST_BYTES
    }
    if problems:
        raise SpecError(tuple(problems.values()))


def _text(order: Mapping[str, Any]) -> str:
    return json.dumps(order, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
