"""The port for people: lists, manifests and parts of what their namespace has."""

from aiohttp import web

from proctor.api.results import NAMESPACES, RECORD
from proctor.results.access import Access
from proctor.results.answers import answer_errors, token_of
from proctor.results.streaming import stream_manifest, stream_part
from proctor.store.folders import FolderKey
from proctor.store.store import Store


def read_application(store: Store, access: Access) -> web.Application:
    """The routes of the port that people reach."""
    reading = _Reading(store, access)
    app = web.Application(middlewares=[answer_errors])
    base = f"{NAMESPACES}/{{namespace}}/records"
    app.router.add_get(base, reading.listing)
    app.router.add_get(f"{base}/{{digest}}", reading.manifest)
    app.router.add_get(f"{base}/{{digest}}/parts/{{path:.+}}", reading.part)
    return app


class _Reading:
    def __init__(self, store: Store, access: Access) -> None:
        self._store = store
        self._access = access

    async def listing(self, request: web.Request) -> web.StreamResponse:
        """``{"items": [StoredFolder]}``, oldest first; ``?run=`` asks for one run's."""
        uid = await self._readable(request)
        found = await self._store.stored(uid, RECORD, request.query.get("run"))
        items = [one.model_dump(mode="json", by_alias=True) for one in found]
        return web.json_response({"items": items})

    async def manifest(self, request: web.Request) -> web.StreamResponse:
        """The manifest, byte for byte."""
        key = self._key(request, await self._readable(request))
        return await stream_manifest(request, self._store, key)

    async def part(self, request: web.Request) -> web.StreamResponse:
        """One part by its path, byte for byte."""
        key = self._key(request, await self._readable(request))
        return await stream_part(request, self._store, key)

    async def _readable(self, request: web.Request) -> str:
        """UID of the namespace, whose trials the bearer may get."""
        return await self._access.namespace(
            token_of(request), request.match_info["namespace"], "get", "evaltrials"
        )

    def _key(self, request: web.Request, namespace_uid: str) -> FolderKey:
        return FolderKey(namespace_uid, RECORD, request.match_info["digest"])
