"""A Kubernetes API server over HTTP in front of a ``FakeCluster``: REST, pages, watches."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from fakes.cluster import FakeCluster
from proctor.controller.cluster import (
    CONFIG_MAPS,
    EVAL_RUNS,
    EVAL_TRIALS,
    NETWORK_POLICIES,
    PODS,
    SERVICE_ACCOUNTS,
    SERVICES,
    ClusterError,
    MissingError,
    Snapshot,
)

_KINDS = {
    kind.plural: kind
    for kind in (
        *(EVAL_RUNS, EVAL_TRIALS, PODS, CONFIG_MAPS),
        *(SERVICE_ACCOUNTS, SERVICES, NETWORK_POLICIES),
    )
}
_ALL = "/{root:api/v1|apis/proctor.dev/v1alpha1|apis/networking.k8s.io/v1}"
_PLACED = _ALL + "/namespaces/{namespace}/{plural}"


class KubeServer:
    """Serves ``cluster``.

    ``expire`` ends every watch with 410 Gone; ``drop`` ends it in the middle of a line; ``busy``
    answers so many requests with 503 before it works.
    """

    def __init__(self, cluster: FakeCluster, page: int = 500) -> None:
        self.cluster, self._page = cluster, page
        self.url = ""
        self.busy = 0
        self.lists = 0
        self._events: list[tuple[int, str, str, dict[str, Any]]] = []
        self._woken = asyncio.Event()
        self._ends: list[dict[str, Any] | bytes] = []
        self._generation = 0
        cluster.watch(self._event)

    def expire(self) -> None:
        """The server has forgotten where its clients are."""
        self._end({"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired"}})

    def drop(self) -> None:
        """Connections break in the middle of an event."""
        self._end(b'{"type": "MODI')

    def _end(self, how: dict[str, Any] | bytes) -> None:
        self._ends.append(how)
        self._generation += 1
        self._wake()

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        app = web.Application(middlewares=[self._errors])
        app.router.add_get(_ALL + "/{plural}", self._collection)
        app.router.add_get(_PLACED, self._collection)
        app.router.add_post(_PLACED, self._create)
        app.router.add_get(_PLACED + "/{name}", self._get)
        app.router.add_delete(_PLACED + "/{name}", self._delete)
        app.router.add_patch(_PLACED + "/{name}", self._patch)
        app.router.add_patch(_PLACED + "/{name}/{sub:status}", self._patch)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        try:
            yield self.url
        finally:
            self._end(b"")
            await runner.cleanup()

    def _event(self, event: str, plural: str, body: dict[str, Any]) -> None:
        version = int(body["metadata"]["resourceVersion"])
        self._events.append((version, event, plural, body))
        self._wake()

    def _wake(self) -> None:
        self._woken.set()
        self._woken = asyncio.Event()

    @web.middleware
    async def _errors(self, request: web.Request, handler: Any) -> web.StreamResponse:
        if self.busy:
            self.busy -= 1
            return web.json_response({"reason": "ServiceUnavailable"}, status=503)
        try:
            return await handler(request)
        except ClusterError as error:
            body = {"kind": "Status", "reason": error.reason, "message": str(error)}
            return web.json_response(body, status=error.status)

    async def _create(self, request: web.Request) -> web.Response:
        kind = _KINDS[request.match_info["plural"]]
        return web.json_response(await self.cluster.create(kind, await request.json()), status=201)

    async def _get(self, request: web.Request) -> web.Response:
        found = await self.cluster.get(*_place(request))
        if found is None:
            raise MissingError(404, "NotFound", "not found")
        return web.json_response(found)

    async def _patch(self, request: web.Request) -> web.Response:
        assert request.content_type == "application/merge-patch+json"
        status = request.match_info.get("sub") == "status"
        patch = await request.json()
        return web.json_response(await self.cluster.patch(*_place(request), patch, status=status))

    async def _delete(self, request: web.Request) -> web.Response:
        options = await request.json()
        kind, namespace, name = _place(request)
        found = await self.cluster.get(kind, namespace, name)
        if found is None:
            raise MissingError(404, "NotFound", "not found")
        uid = options["preconditions"]["uid"]
        if found["metadata"]["uid"] != uid:
            return web.json_response({"reason": "Conflict", "message": "uid"}, status=409)
        await self.cluster.delete(kind, namespace, name, uid=uid)
        return web.json_response(found)

    async def _collection(self, request: web.Request) -> web.StreamResponse:
        if request.query.get("watch") == "true":
            return await self._watch(request)
        self.lists += 1
        snapshot = self._snapshot(request)
        start = int(request.query.get("continue") or 0)
        size = min(int(request.query["limit"]), self._page)
        page = snapshot.values[start : start + size]
        more = start + size < len(snapshot.values)
        metadata = {"resourceVersion": str(snapshot.version)}
        if more:
            metadata["continue"] = str(start + size)
        return web.json_response({"metadata": metadata, "items": page})

    def _snapshot(self, request: web.Request) -> Snapshot[Any]:
        return self.cluster.snapshot(
            _KINDS[request.match_info["plural"]],
            dict,
            request.match_info.get("namespace"),
            request.query.get("labelSelector", ""),
        )

    async def _watch(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        await response.prepare(request)
        bookmark = {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "999"}}}
        version, generation = int(request.query["resourceVersion"]), self._generation
        if version > 999:
            bookmark["object"] = {"metadata": {"resourceVersion": str(version)}}
        await response.write(json.dumps(bookmark).encode() + b"\n")
        while True:
            woken = self._woken
            for at, event, plural, body in list(self._events):
                if at > version and _wanted(request, plural, body):
                    line = json.dumps({"type": event, "object": body}).encode()
                    await response.write(line[:20])
                    await response.write(line[20:] + b"\n")
                    version = at
            if generation != self._generation:
                end = self._ends[-1]
                text = end if isinstance(end, bytes) else json.dumps(end).encode() + b"\n"
                await response.write(text)
                return response
            await woken.wait()


def _place(request: web.Request) -> tuple[Any, str, str]:
    info = request.match_info
    return _KINDS[info["plural"]], info["namespace"], info["name"]


def _wanted(request: web.Request, plural: str, body: dict[str, Any]) -> bool:
    if plural != request.match_info["plural"]:
        return False
    namespace = request.match_info.get("namespace")
    labels = body["metadata"].get("labels") or {}
    terms = [term for term in request.query.get("labelSelector", "").split(",") if term]
    return namespace in (None, body["metadata"]["namespace"]) and all(
        term.split("=")[0] in labels for term in terms
    )
