"""An API server in memory: just enough of one for the port ``Cluster``."""

import asyncio
import copy
import itertools
from collections.abc import AsyncGenerator, Callable
from datetime import UTC, datetime
from typing import Any

from proctor.controller.cluster import (
    EVAL_RUNS,
    EVAL_TRIALS,
    PODS,
    Body,
    Change,
    ExistsError,
    Gone,
    Kind,
    MissingError,
    PreconditionError,
    Put,
    Snapshot,
    T,
)

_WITH_STATUS = {EVAL_RUNS.plural, EVAL_TRIALS.plural, PODS.plural}
START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class FakeCluster:
    """Objects with UIDs, versions, finalizers, owners and watches.

    ``before_write`` sees every write before it happens and may raise; ``writes`` remembers them
    as (verb, plural, name).
    """

    def __init__(self, now: Callable[[], datetime] = lambda: START) -> None:
        self._now = now
        self._versions = itertools.count(1001)
        self._uids = itertools.count(1)
        self._objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._watchers: list[Callable[[str, str, dict[str, Any]], None]] = []
        self.version = 1000
        self.writes: list[tuple[str, str, str]] = []
        self.before_write: Callable[[str, Kind, Body], None] = lambda verb, kind, body: None

    async def create(self, kind: Kind, body: Body) -> Body:
        self._write("create", kind, body)
        stored = copy.deepcopy(dict(body))
        meta = stored["metadata"]
        key = (kind.plural, meta["namespace"], meta["name"])
        if key in self._objects:
            raise ExistsError(409, "AlreadyExists", f"{kind.plural} {meta['name']} already exists")
        meta["uid"] = f"uid-{next(self._uids)}"
        meta["creationTimestamp"] = _text(self._now())
        meta["generation"] = 1
        if kind.plural in _WITH_STATUS:
            stored.pop("status", None)
        return self._store(key, stored, "ADDED")

    async def get(self, kind: Kind, namespace: str, name: str) -> Body | None:
        return copy.deepcopy(self._objects.get((kind.plural, namespace, name)))

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Body, *, status: bool = False
    ) -> Body:
        named = {**patch.get("metadata", {}), "name": name}
        self._write("patch", kind, {**patch, "metadata": named})
        key = (kind.plural, namespace, name)
        if key not in self._objects:
            raise MissingError(404, "NotFound", f"{kind.plural} {name} not found")
        stored = copy.deepcopy(self._objects[key])
        meta = dict(patch.get("metadata", {}))
        for field in ("uid", "resourceVersion"):
            if field in meta and meta.pop(field) != stored["metadata"][field]:
                raise PreconditionError(409, "Conflict", f"{kind.plural} {name}: {field} differs")
        before = stored.get("spec")
        if status:
            stored["status"] = _merged(stored.get("status", {}), patch.get("status", {}))
        else:
            rest = {part: value for part, value in patch.items() if part != "status"}
            stored = _merged(stored, {**rest, "metadata": meta})
        if stored.get("spec") != before:
            stored["metadata"]["generation"] += 1
        if stored["metadata"].get("deletionTimestamp") and not stored["metadata"].get("finalizers"):
            return self._remove(key, stored)
        return self._store(key, stored, "MODIFIED")

    async def delete(self, kind: Kind, namespace: str, name: str, *, uid: str) -> None:
        self._write("delete", kind, {"metadata": {"name": name}})
        self.delete_now((kind.plural, namespace, name), uid)

    async def follow(
        self,
        kind: Kind,
        namespace: str | None,
        parse: Callable[[Body], T | None],
        *,
        selector: str = "",
    ) -> AsyncGenerator[Change[T], None]:
        queue: asyncio.Queue[tuple[str, dict[str, Any]]] = asyncio.Queue()

        def watcher(event: str, plural: str, body: dict[str, Any]) -> None:
            placed = namespace in (None, body["metadata"]["namespace"])
            if plural == kind.plural and placed and _selected(body, selector):
                queue.put_nowait((event, body))

        self._watchers.append(watcher)
        try:
            yield self.snapshot(kind, parse, namespace, selector)
            while True:
                event, body = await queue.get()
                value = parse(body)
                if value is not None:
                    yield Gone(value) if event == "DELETED" else Put(value)
        finally:
            self._watchers.remove(watcher)

    def snapshot(
        self,
        kind: Kind,
        parse: Callable[[Body], T | None],
        namespace: str | None = None,
        selector: str = "",
    ) -> Snapshot[T]:
        """What a list answers now."""
        bodies = [
            copy.deepcopy(body)
            for (plural, place, _), body in self._objects.items()
            if plural == kind.plural and namespace in (None, place) and _selected(body, selector)
        ]
        values = [value for body in bodies if (value := parse(body)) is not None]
        return Snapshot(tuple(values), self.version)

    def watch(self, watcher: Callable[[str, str, dict[str, Any]], None]) -> None:
        """Tell ``watcher`` of every event: type, plural, body."""
        self._watchers.append(watcher)

    def bodies(self, kind: Kind) -> list[dict[str, Any]]:
        """All objects of a kind, for tests to look at."""
        return [
            copy.deepcopy(body)
            for (plural, *_), body in self._objects.items()
            if plural == kind.plural
        ]

    def set_status(self, kind: Kind, namespace: str, name: str, status: Body) -> None:
        """What some other controller, such as a kubelet, writes."""
        key = (kind.plural, namespace, name)
        stored = copy.deepcopy(self._objects[key])
        stored["status"] = _merged(stored.get("status", {}), status)
        self._store(key, stored, "MODIFIED")

    def change_pod(self, name: str, patch: Body) -> None:
        """What somebody with rights on pods does to one."""
        (key,) = [key for key in self._objects if key[0] == PODS.plural and key[2] == name]
        self._store(key, _merged(copy.deepcopy(self._objects[key]), patch), "MODIFIED")

    def plant(self, kind: Kind, body: Body) -> None:
        """An object that somebody else makes."""
        stored = copy.deepcopy(dict(body))
        meta = stored["metadata"]
        meta |= {
            "uid": f"foreign-{next(self._uids)}",
            "creationTimestamp": _text(self._now()),
            "generation": 1,
        }
        self._store((kind.plural, meta["namespace"], meta["name"]), stored, "ADDED")

    def change(self, kind: Kind, namespace: str, name: str, patch: Body) -> None:
        """What a user edits."""
        key = (kind.plural, namespace, name)
        stored = _merged(copy.deepcopy(self._objects[key]), patch)
        stored["metadata"]["generation"] += 1
        self._store(key, stored, "MODIFIED")

    def delete_now(self, key: tuple[str, str, str], uid: str | None = None) -> None:
        """Delete without counting it as a write of ours; None: whatever UID it has."""
        stored = self._objects.get(key)
        if stored is None or uid not in (None, stored["metadata"]["uid"]):
            return
        stored = copy.deepcopy(stored)
        if not stored["metadata"].get("finalizers"):
            self._remove(key, stored)
        elif not stored["metadata"].get("deletionTimestamp"):
            stored["metadata"]["deletionTimestamp"] = _text(self._now())
            self._store(key, stored, "MODIFIED")

    def remove_pod(self, pod: Body) -> None:
        """Somebody takes the finalizers off and deletes: a pod is gone without a trace."""
        meta = pod["metadata"]
        key = (PODS.plural, meta["namespace"], meta["name"])
        self._remove(key, copy.deepcopy(self._objects[key]))

    def _write(self, verb: str, kind: Kind, body: Body) -> None:
        self.before_write(verb, kind, body)
        self.writes.append((verb, kind.plural, body["metadata"]["name"]))

    def _store(self, key: tuple[str, str, str], body: dict[str, Any], event: str) -> dict[str, Any]:
        self.version = next(self._versions)
        body["metadata"]["resourceVersion"] = str(self.version)
        self._objects[key] = body
        self._tell(event, key[0], body)
        return copy.deepcopy(body)

    def _remove(self, key: tuple[str, str, str], body: dict[str, Any]) -> dict[str, Any]:
        self.version = next(self._versions)
        body["metadata"]["resourceVersion"] = str(self.version)
        del self._objects[key]
        self._tell("DELETED", key[0], body)
        uid = body["metadata"]["uid"]
        for other, dependant in list(self._objects.items()):
            owners = dependant["metadata"].get("ownerReferences", [])
            if any(owner["uid"] == uid for owner in owners):
                self.delete_now(other)
        return copy.deepcopy(body)

    def _tell(self, event: str, plural: str, body: dict[str, Any]) -> None:
        for watcher in list(self._watchers):
            watcher(event, plural, copy.deepcopy(body))


def _merged(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), value)
    return result


def _selected(body: Body, selector: str) -> bool:
    labels = body["metadata"].get("labels") or {}
    for term in filter(None, selector.split(",")):
        name, _, value = term.partition("=")
        if name not in labels or (value and labels[name] != value):
            return False
    return True


def _text(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
