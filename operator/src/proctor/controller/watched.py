"""The local mirror of what the shared watches saw; one per kind, newest version wins."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from proctor.controller.cluster import Change, Gone, Put, Snapshot
from proctor.controller.seen import Identity, RunKey, SeenPod, SeenRun, SeenTrial
from proctor.controller.seen_policy import SeenPolicy, place_of


class Seen(Protocol):
    """What a mirror holds."""

    @property
    def identity(self) -> Identity:
        """Which object."""


S = TypeVar("S", bound=Seen)


class Mirror(Generic[S]):
    """Objects of one kind, by run.

    Args:
        run_of: The run that an object belongs to.
        changed: Told of every run of which something changed.
        scopes: Namespaces that are followed; the mirror is complete when each was listed.
    """

    def __init__(
        self,
        run_of: Callable[[S], RunKey],
        changed: Callable[[RunKey], None],
        scopes: tuple[str | None, ...],
    ) -> None:
        self._run_of, self._changed = run_of, changed
        self._unlisted = set(scopes)
        self._by_run: dict[RunKey, dict[str, S]] = {}
        self.complete = asyncio.Event()

    def of(self, run: RunKey) -> Mapping[str, S]:
        """Objects of a run, by name."""
        return self._by_run.get(run, {})

    def all(self) -> Iterator[S]:
        """Every object."""
        for group in self._by_run.values():
            yield from group.values()

    def runs(self) -> tuple[RunKey, ...]:
        """Runs of which something exists."""
        return tuple(self._by_run)

    def take(self, change: Change[S], scope: str | None) -> None:
        """Fold in what a watch saw."""
        match change:
            case Snapshot(values, version):
                self._replace(values, version, scope)
                self._unlisted.discard(scope)
                if not self._unlisted:
                    self.complete.set()
            case Put(value):
                self.put(value)
            case Gone(value):
                self.remove(value)

    def put(self, value: S) -> None:
        """Add or renew an object, unless this version of it or a newer one is known.

        Our own writes come in here too, so that the next pass sees them at once.
        """
        run, identity = self._run_of(value), value.identity
        held = self._by_run.get(run, {}).get(identity.name)
        if held is not None and held.identity.version >= identity.version:
            return
        self._by_run.setdefault(run, {})[identity.name] = value
        self._changed(run)

    def remove(self, value: S) -> None:
        """Forget an object, unless another one has its name by now."""
        run, identity = self._run_of(value), value.identity
        group = self._by_run.get(run, {})
        held = group.get(identity.name)
        if held is None or held.identity.uid != identity.uid:
            return
        del group[identity.name]
        if not group:
            del self._by_run[run]
        self._changed(run)

    def _replace(self, values: tuple[S, ...], version: int, scope: str | None) -> None:
        listed = {value.identity.uid for value in values}
        for held in list(self.all()):
            identity = held.identity
            listable = scope in (None, identity.namespace) and identity.version <= version
            if listable and identity.uid not in listed:
                self.remove(held)
        for value in values:
            self.put(value)


@dataclass(frozen=True, slots=True)
class Watched:
    """The mirrors that passes read."""

    runs: Mirror[SeenRun]
    trials: Mirror[SeenTrial]
    pods: Mirror[SeenPod]
    policies: Mirror[SeenPolicy]
    scopes: tuple[str | None, ...] = field(default=(None,))

    @classmethod
    def empty(
        cls, changed: Callable[[RunKey], None], scopes: tuple[str | None, ...] = (None,)
    ) -> "Watched":
        """Mirrors that have seen nothing; ``scopes`` are namespaces, (None,) is all of them."""
        pods = Mirror[SeenPod](lambda pod: pod.run, changed, scopes)

        def policy_changed(place: RunKey) -> None:
            for run in pods.runs():
                if run.namespace == place.namespace:
                    changed(run)

        return cls(
            runs=Mirror(lambda run: run.key, changed, scopes),
            trials=Mirror(lambda trial: trial.run, changed, scopes),
            pods=pods,
            policies=Mirror(lambda one: place_of(one.identity.namespace), policy_changed, scopes),
            scopes=scopes,
        )

    async def complete(self) -> None:
        """Wait until the first list of every kind has come."""
        for mirror in (self.runs, self.trials, self.pods, self.policies):
            await mirror.complete.wait()

    @property
    def is_complete(self) -> bool:
        """Whether the first list of every kind has come."""
        mirrors = (self.runs, self.trials, self.pods, self.policies)
        return all(mirror.complete.is_set() for mirror in mirrors)

    def run(self, key: RunKey) -> SeenRun | None:
        """The run itself, or None."""
        return self.runs.of(key).get(key.name)
