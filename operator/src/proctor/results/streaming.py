"""Manifests and parts as answers, byte for byte."""

from aiohttp import web

from proctor.api.results import THERE_IS_NO
from proctor.results.answers import problem
from proctor.store.folders import FolderKey
from proctor.store.store import Store

_SAFE = {
    "Content-Type": "application/octet-stream",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
"""What an agent wrote is never shown as a page."""


async def stream_manifest(request: web.Request, store: Store, key: FolderKey) -> web.StreamResponse:
    """Answer with a folder's manifest, or 404."""
    if await store.find(key) is None:
        return problem(404, f"{THERE_IS_NO} {key.kind} {key.digest}")
    return await _stream(request, store, key, key.digest)


async def stream_part(request: web.Request, store: Store, key: FolderKey) -> web.StreamResponse:
    """Answer with the part that the address names by its path, or 404."""
    found = await store.find(key)
    path = request.match_info["path"]
    part = next((one for one in (found[1] if found else ()) if one.path == path), None)
    if part is None:
        return problem(404, f"{THERE_IS_NO} {key.kind} {key.digest} with a part {path!r}")
    return await _stream(request, store, key, part.sha256, part.size_bytes)


async def _stream(
    request: web.Request, store: Store, key: FolderKey, sha256: str, size: int | None = None
) -> web.StreamResponse:
    """``size`` None: its end alone says how large it is."""
    chunks = store.read(key, sha256)
    first = await anext(chunks, b"")
    response = web.StreamResponse(headers={**_SAFE, "ETag": f'"{sha256}"'})
    response.content_length = size
    await response.prepare(request)
    await response.write(first)
    async for chunk in chunks:
        await response.write(chunk)
    await response.write_eof()
    return response
