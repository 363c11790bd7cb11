"""Taking folders: the exchange that ``api.results`` describes."""

from aiohttp import web

from proctor.api.results import MANIFEST_BYTES, is_digest
from proctor.api.stored import StoredFolder
from proctor.results.answers import problem
from proctor.results.checking import require_same_trial
from proctor.store.folders import FolderKey
from proctor.store.spool import TooLargeError
from proctor.store.store import Store


async def take_manifest(request: web.Request, store: Store, folder: StoredFolder) -> web.Response:
    """Answer 200 when the folder is whole, else 202 with the parts that are missing."""
    if not is_digest(folder.digest):
        return problem(404, "a digest has 64 hexadecimal digits")
    manifest = await _read(request)
    missing = await store.offer(folder, manifest)
    if missing:
        return web.json_response({"missing": missing}, status=202)
    await require_same_trial(store, FolderKey.of(folder), folder.trial)
    await store.finish(folder)
    return web.json_response({"digest": folder.digest, "missing": []})


async def take_part(request: web.Request, store: Store, key: FolderKey) -> web.Response:
    """Take one part of a folder whose manifest came before."""
    sha256 = request.match_info["sha256"]
    body = request.content.iter_chunked(1 << 18)
    if not is_digest(sha256) or not await store.take(key, sha256, body):
        return problem(404, "no manifest names this part; send the manifest first")
    return web.Response(status=204)


async def _read(request: web.Request) -> bytes:
    data = bytearray()
    async for chunk in request.content.iter_chunked(1 << 18):
        data += chunk
        if len(data) > MANIFEST_BYTES:
            raise TooLargeError(f"a manifest has at most {MANIFEST_BYTES} bytes")
    return bytes(data)
