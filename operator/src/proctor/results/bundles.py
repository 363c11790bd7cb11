"""Bundles of tasks, on the port for people: they send them, and the operator alone reads them.

Whoever may create EvalRuns in a namespace may send; what is hidden from agents stands in a bundle,
so the right to read runs is not enough, and reading them is nobody's but the operator's.
"""

from collections.abc import Callable
from datetime import datetime

from aiohttp import web

from proctor.api.results import (
    BUNDLE,
    MAX_BUNDLE_BYTES,
    NAMESPACES,
    is_digest,
)
from proctor.api.stored import StoredFolder
from proctor.planning.bundle import PARTS
from proctor.results.access import Access
from proctor.results.answers import token_of
from proctor.results.sending import read_offer, take_manifest, take_part
from proctor.results.streaming import stream_manifest, stream_part
from proctor.store.folders import FolderKey
from proctor.store.manifests import read_manifest
from proctor.store.spool import BodyError, TooLargeError
from proctor.store.store import Store


def add_bundles(
    app: web.Application, store: Store, access: Access, now: Callable[[], datetime]
) -> None:
    """Add the routes to the port for people."""
    bundles = _Bundles(store, access, now)
    base = f"{NAMESPACES}/{{namespace}}/bundles/{{digest}}"
    app.router.add_put(base, bundles.offer)
    app.router.add_put(f"{base}/parts/{{sha256}}", bundles.take)
    app.router.add_get(base, bundles.manifest)
    app.router.add_get(f"{base}/parts/{{path:.+}}", bundles.part)


class _Bundles:
    def __init__(self, store: Store, access: Access, now: Callable[[], datetime]) -> None:
        self._store = store
        self._access = access
        self._now = now

    async def offer(self, request: web.Request) -> web.StreamResponse:
        """Take a manifest; of a bundle that is there already its age counts from now on."""
        key = self._key(request, await self._writable(request))
        manifest = await read_offer(request)
        if is_digest(key.digest) and await self._store.find(key) is not None:
            await self._store.renew(key)
        folder = StoredFolder(
            kind=BUNDLE,
            namespace=request.match_info["namespace"],
            namespace_uid=key.namespace_uid,
            digest=key.digest,
            size_bytes=0,
            created_at=self._now(),
        )
        _require_readable(manifest)
        return await take_manifest(self._store, folder, manifest)

    async def take(self, request: web.Request) -> web.StreamResponse:
        """Take one part."""
        key = self._key(request, await self._writable(request))
        return await take_part(request, self._store, key)

    async def manifest(self, request: web.Request) -> web.StreamResponse:
        """The manifest, byte for byte."""
        key = self._key(request, await self._readable(request))
        return await stream_manifest(request, self._store, key)

    async def part(self, request: web.Request) -> web.StreamResponse:
        """One part by its path, byte for byte."""
        key = self._key(request, await self._readable(request))
        return await stream_part(request, self._store, key)

    async def _writable(self, request: web.Request) -> str:
        """UID of the namespace, in which the bearer may create EvalRuns."""
        return await self._access.namespace(
            token_of(request), request.match_info["namespace"], "create", "evalruns"
        )

    async def _readable(self, request: web.Request) -> str:
        """UID of the namespace, when the operator asks."""
        namespace = request.match_info["namespace"]
        return await self._access.namespace_for_operator(token_of(request), namespace)

    def _key(self, request: web.Request, namespace_uid: str) -> FolderKey:
        return FolderKey(namespace_uid, BUNDLE, request.match_info["digest"])


def _require_readable(manifest: bytes) -> None:
    """Refuse what the operator would not read.

    Raises:
        BodyError: It is not the manifest of a bundle.
        TooLargeError: Its parts are larger than the operator reads.
    """
    parts = read_manifest(manifest, len(PARTS)).parts
    if tuple(sorted(part.path for part in parts)) != PARTS:
        raise BodyError(f"a bundle has the parts {', '.join(PARTS)}")
    size = sum(part.size for part in parts)
    if size > MAX_BUNDLE_BYTES:
        raise TooLargeError(f"a bundle of {size} bytes; at most {MAX_BUNDLE_BYTES} are taken")
