"""Removes what is too old or too much, oldest first, and never what a run still needs."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from proctor.api.results import written_digest
from proctor.api.stored import StoredFolder
from proctor.store.store import Store

_AT_ONCE = 10_000

_LOGGER = logging.getLogger("proctor.results")


class Runs(Protocol):
    """Says which EvalRuns there are."""

    async def runs(self, namespace: str) -> Sequence[Mapping[str, Any]]:
        """All of a namespace, as JSON; ``PlatformError`` when nobody says."""


@dataclass(frozen=True, slots=True)
class Policy:
    """When to remove; None: never for that reason.

    Beyond nine tenths of ``max_total_bytes`` the oldest go: there is room before it is needed.
    """

    max_age: timedelta | None = None
    max_total_bytes: int | None = None


class Retention:
    """One pass at a time."""

    def __init__(
        self, store: Store, runs: Runs, policy: Policy, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._runs = runs
        self._policy = policy
        self._now = now

    async def run(self, room_bytes: int = 0) -> int:
        """Remove what has to go, and so much that ``room_bytes`` fit; how many folders.

        Raises:
            PlatformError: Store or API server cannot be asked; nothing more was removed.
        """
        needed = _Needed(self._runs)
        removed = await self._too_old(needed) + await self._too_much(needed, room_bytes)
        if removed:
            _LOGGER.info("retention removed %d folders", removed)
        return removed

    async def _too_old(self, needed: "_Needed") -> int:
        if self._policy.max_age is None:
            return 0
        before, removed = self._now() - self._policy.max_age, 0
        for folder in await self._store.oldest(_AT_ONCE, before):
            removed += await self._remove(folder, needed)
        return removed

    async def _too_much(self, needed: "_Needed", room_bytes: int) -> int:
        most, removed = self._policy.max_total_bytes, 0
        if most is None:
            return 0
        surplus = await self._store.total_bytes() - min(most * 9 // 10, most - room_bytes)
        for folder in await self._store.oldest(_AT_ONCE) if surplus > 0 else ():
            if surplus <= 0:
                break
            if await self._remove(folder, needed):
                surplus -= folder.size_bytes
                removed += 1
        return removed

    async def _remove(self, folder: StoredFolder, needed: "_Needed") -> bool:
        if await needed.has(folder):
            return False
        return await self._store.remove(folder)


class _Needed:
    """What unfinished runs need, looked up once a namespace and pass.

    Of a record that is its run, by UID, of a bundle any run that names it, by digest.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs
        self._known: dict[str, frozenset[str]] = {}

    async def has(self, folder: StoredFolder) -> bool:
        if folder.namespace not in self._known:
            found = await self._runs.runs(folder.namespace)
            self._known[folder.namespace] = frozenset(
                key for run in found if not _is_complete(run) for key in _keys(run)
            )
        key = written_digest(folder.digest) if folder.trial is None else folder.trial.run_uid
        return key in self._known[folder.namespace]


def _keys(run: Mapping[str, Any]) -> Iterator[str]:
    yield str(run["metadata"]["uid"])
    for source in (run.get("spec") or {}).get("tasksFrom") or ():
        yield str((source.get("bundle") or {}).get("digest"))


def _is_complete(run: Mapping[str, Any]) -> bool:
    conditions = (run.get("status") or {}).get("conditions") or ()
    return any(one.get("type") == "Complete" and one.get("status") == "True" for one in conditions)
