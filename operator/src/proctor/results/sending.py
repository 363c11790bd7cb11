"""Taking folders: the exchange that ``api.results`` describes."""

from collections.abc import Awaitable, Callable

from aiohttp import web

from proctor.api.results import MANIFEST_BYTES, is_digest
from proctor.api.stored import StoredFolder
from proctor.results.answers import problem
from proctor.store.folders import FolderKey
from proctor.store.spool import TooLargeError
from proctor.store.store import Store

Check = Callable[[FolderKey], Awaitable[None]]
"""Looks at a folder whose parts are all there; ``BodyError`` when it is not what it should be."""


async def read_offer(request: web.Request) -> bytes:
    """The manifest that is sent; ``TooLargeError`` when it is none for its size alone."""
    data = bytearray()
    async for chunk in request.content.iter_chunked(1 << 18):
        data += chunk
        if len(data) > MANIFEST_BYTES:
            raise TooLargeError(f"a manifest has at most {MANIFEST_BYTES} bytes")
    return bytes(data)


async def take_manifest(
    store: Store, folder: StoredFolder, manifest: bytes, check: Check | None = None
) -> web.Response:
    """Answer 200 when the folder is whole, else 202 with the parts that are missing.

    ``check`` None: what its parts hold is for others to judge.
    """
    if not is_digest(folder.digest):
        return problem(404, "a digest has 64 hexadecimal digits")
    missing = await store.offer(folder, manifest)
    if missing:
        return web.json_response({"missing": missing}, status=202)
    if check is not None:
        await check(FolderKey.of(folder))
    await store.finish(folder)
    return web.json_response({"digest": folder.digest, "missing": []})


async def take_part(request: web.Request, store: Store, key: FolderKey) -> web.Response:
    """Take one part of a folder whose manifest came before."""
    sha256 = request.match_info["sha256"]
    body = request.content.iter_chunked(1 << 18)
    if not is_digest(sha256) or not await store.take(key, sha256, body):
        return problem(404, "the manifest names no such part")
    return web.Response(status=204)
