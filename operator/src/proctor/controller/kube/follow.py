"""One list and watch of a kind: pages, bookmarks, resuming, and listing again after 410 Gone."""

import asyncio
import json
import logging
import random
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, Generic

import aiohttp

from proctor.controller.cluster import Body, Change, ClusterError, Gone, Put, Snapshot, T
from proctor.controller.kube.client import Client

PAGE = 500
WATCH_SECONDS = 290
"""The server ends a watch after this long; we connect again where it ended."""

_SILENCE = aiohttp.ClientTimeout(total=None, sock_connect=10, sock_read=WATCH_SECONDS + 30)
_LONGEST_LINE = 4 * 1024 * 1024
_GONE = 410

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Followed(Generic[T]):
    """What to follow: path of the list, selector, and how to read a body."""

    path: str
    selector: str
    parse: Callable[[Body], T | None]


async def follow(
    client: Client, what: Followed[T], alive: Callable[[], None], restarted: Callable[[], None]
) -> AsyncGenerator[Change[T], None]:
    """Changes for ever. ``alive`` is told of every sign of life, ``restarted`` of every list."""
    version, failures = "", 0
    while True:
        try:
            if not version:
                restarted()
                version, values = await _list(client, what)
                yield Snapshot(values, int(version))
            alive()
            async for event in _watch(client, what, version):
                alive()
                failures = 0
                version = event["object"]["metadata"]["resourceVersion"]
                change = _change(event, what.parse)
                if change is not None:
                    yield change
        except ClusterError as error:
            if error.status == _GONE:
                version = ""
            failures += 1
            log.log(_level(failures), "watch of %s, failure %d: %s", what.path, failures, error)
            await asyncio.sleep(_backoff(failures))


async def _list(client: Client, what: Followed[T]) -> tuple[str, tuple[T, ...]]:
    values: list[T] = []
    query = {"limit": str(PAGE), "labelSelector": what.selector}
    while True:
        page = await client.request("GET", what.path, query=query)
        values += [value for body in page["items"] if (value := what.parse(body)) is not None]
        meta = page["metadata"]
        if not meta.get("continue"):
            return meta["resourceVersion"], tuple(values)
        query = {**query, "continue": meta["continue"]}


async def _watch(client: Client, what: Followed[T], version: str) -> AsyncIterator[dict[str, Any]]:
    query = {
        "watch": "true",
        "allowWatchBookmarks": "true",
        "resourceVersion": version,
        "timeoutSeconds": str(WATCH_SECONDS),
        "labelSelector": what.selector,
    }
    async with client.open("GET", what.path, query=query, limit=_SILENCE) as answer:
        async for line in _lines(answer.content):
            event = json.loads(line)
            if event["type"] == "ERROR":
                status = event["object"]
                code = int(status.get("code", 0))
                raise ClusterError(code, str(status.get("reason")), str(status.get("message")))
            yield event


async def _lines(stream: aiohttp.StreamReader) -> AsyncIterator[bytes]:
    """Lines of any length; aiohttp's own reader stops at 64 KiB."""
    rest = b""
    async for chunk in stream.iter_any():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if line:
                yield line
        if len(rest) > _LONGEST_LINE:
            raise ClusterError(_GONE, "Expired", "an event is longer than 4 MiB")


def _change(event: dict[str, Any], parse: Callable[[Body], T | None]) -> Change[T] | None:
    if event["type"] == "BOOKMARK":
        return None
    value = parse(event["object"])
    if value is None:
        return None
    return Gone(value) if event["type"] == "DELETED" else Put(value)


def _level(failures: int) -> int:
    """A watch that ends or expires once is nothing; one that does not come back is."""
    return logging.WARNING if failures > 1 else logging.INFO


def _backoff(failures: int) -> float:
    """Seconds, with chance in it, so that many clients do not come back together."""
    return float(min(0.1 * 2 ** min(failures, 10), 15.0) * random.uniform(0.5, 1.0))
