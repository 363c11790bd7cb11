"""A small HTTP/1.1 client on asyncio streams, so that a call ends at once when it is cancelled.

One POST for each connection. Standard library only: ``http.client`` would block a thread that
nobody can stop, and costs the phase ``agent`` its start time.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

MAX_BODY_BYTES = 33_554_432
_LINE_BYTES = 65_536


class HttpError(ConnectionError):
    """The connection broke, or what came is not HTTP."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer; names of headers in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


async def post(url: str, headers: Mapping[str, str], body: bytes) -> Response:
    """Send ``body`` and read the whole answer, at most ``MAX_BODY_BYTES``.

    Raises:
        HttpError: Or another ``OSError``, when there was no whole answer.
    """
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    reader, writer = await asyncio.open_connection(
        parts.hostname, parts.port or (443 if secure else 80), ssl=secure, limit=_LINE_BYTES
    )
    try:
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        sent = {**headers, "host": parts.netloc.rpartition("@")[2], "connection": "close"}
        writer.write(_request(target, sent, body))
        await writer.drain()
        return await _response(reader)
    except (EOFError, LookupError, ValueError, asyncio.LimitOverrunError) as error:
        raise HttpError(f"the answer broke off or is not HTTP: {error}") from error
    finally:
        writer.close()


def _request(target: str, headers: Mapping[str, str], body: bytes) -> bytes:
    sent = {**headers, "content-type": "application/json", "content-length": str(len(body))}
    lines = [
        f"POST {target or '/'} HTTP/1.1",
        *(f"{name}: {value}" for name, value in sent.items()),
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


async def _response(reader: asyncio.StreamReader) -> Response:
    status = int((await reader.readuntil(b"\n")).split(maxsplit=2)[1])
    headers = await _headers(reader)
    return Response(status, headers, await _body(reader, headers))


async def _headers(reader: asyncio.StreamReader) -> dict[str, str]:
    headers: dict[str, str] = {}
    while line := (await reader.readuntil(b"\n")).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return headers


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        return await _chunks(reader)
    if "content-length" in headers:
        return await reader.readexactly(_bounded(int(headers["content-length"])))
    body = bytearray()
    while part := await reader.read(_LINE_BYTES):
        body += part
        _bounded(len(body))
    return bytes(body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = bytearray()
    while size := int((await reader.readuntil(b"\n")).partition(b";")[0], 16):
        body += await reader.readexactly(_bounded(len(body) + size) - len(body))
        await reader.readuntil(b"\n")
    await _headers(reader)
    return bytes(body)


def _bounded(size_bytes: int) -> int:
    if not 0 <= size_bytes <= MAX_BODY_BYTES:
        raise ValueError(f"a body of {size_bytes} bytes, more than {MAX_BODY_BYTES}")
    return size_bytes
