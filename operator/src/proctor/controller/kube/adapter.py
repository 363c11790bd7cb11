"""``KubeCluster``: the port ``Cluster`` over HTTP."""

import time
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from proctor.controller.cluster import (
    PODS,
    Body,
    Change,
    Kind,
    MissingError,
    PreconditionError,
    T,
)
from proctor.controller.kube.client import Client, path_of
from proctor.controller.kube.follow import Followed, follow


class KubeCluster:
    """A real API server.

    Args:
        restarted: Told the plural of a kind whenever it is listed again.
    """

    def __init__(self, client: Client, restarted: Callable[[str], None]) -> None:
        self._client = client
        self._restarted = restarted
        self._signs: dict[str, float] = {}

    def watch_ages(self) -> Mapping[str, float]:
        """Seconds since the last sign of life of each watch, by kind and namespace."""
        now = time.monotonic()
        return {name: now - at for name, at in self._signs.items()}

    async def create(self, kind: Kind, body: Body) -> Body:
        """Make an object.

        A field of a pod that the server does not know is refused: a run's author wrote it.
        """
        path = path_of(kind, body["metadata"]["namespace"])
        query = {"fieldValidation": "Strict"} if kind is PODS else None
        return await self._client.request("POST", path, body=body, query=query)

    async def get(self, kind: Kind, namespace: str, name: str) -> Body | None:
        """Read an object; None when there is none."""
        try:
            return await self._client.request("GET", path_of(kind, namespace, name))
        except MissingError:
            return None

    async def patch(
        self, kind: Kind, namespace: str, name: str, patch: Body, *, status: bool = False
    ) -> Body:
        """Merge into the object or its status."""
        path = path_of(kind, namespace, name) + ("/status" if status else "")
        return await self._client.request("PATCH", path, body=patch)

    async def delete(self, kind: Kind, namespace: str, name: str, *, uid: str) -> None:
        """Delete by UID; what depends on an object goes before it, as Job's TTL does it."""
        body: dict[str, Any] = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": "Background" if kind is PODS else "Foreground",
            "preconditions": {"uid": uid},
        }
        try:
            await self._client.request("DELETE", path_of(kind, namespace, name), body=body)
        except (MissingError, PreconditionError):
            return

    async def follow(
        self,
        kind: Kind,
        namespace: str | None,
        parse: Callable[[Body], T | None],
        *,
        selector: str = "",
    ) -> AsyncGenerator[Change[T], None]:
        """Changes of one kind until the iterator is closed; the first is a snapshot."""
        name = f"{kind.plural}/{namespace}" if namespace else kind.plural
        self._signs[name] = time.monotonic()

        def alive() -> None:
            self._signs[name] = time.monotonic()

        what = Followed(path_of(kind, namespace), selector, parse)
        changes = follow(self._client, what, alive, lambda: self._restarted(kind.plural))
        try:
            async for change in changes:
                yield change
        finally:
            del self._signs[name]
            await changes.aclose()
