"""Parts as answers, byte for byte."""

from aiohttp import web

from proctor.store.folders import FolderKey
from proctor.store.store import Store

_SAFE = {
    "Content-Type": "application/octet-stream",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; sandbox",
}
"""What an agent wrote is never shown as a page."""


async def stream(
    request: web.Request, store: Store, key: FolderKey, sha256: str, size: int | None = None
) -> web.StreamResponse:
    """Answer with a part; ``size`` None: its end alone says how large it is."""
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
