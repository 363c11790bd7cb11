"""One HTTP request to the API server: address, credentials, errors. Raw JSON both ways."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp

from proctor.controller.cluster import (
    Body,
    ClusterError,
    ExistsError,
    Kind,
    MissingError,
    PreconditionError,
    RefusedError,
)
from proctor.controller.kube.connection import Connection

Counted = Callable[[str, str], None]
"""Told of each request: verb and status code (``error`` when there was no answer)."""

_MERGE_PATCH = "application/merge-patch+json"
_TIMEOUT = aiohttp.ClientTimeout(total=30)
_TRIES = 4
_BUSY = frozenset({429, 502, 503, 504})


class Client:
    """Speaks to one API server over a shared pool of connections."""

    def __init__(self, connection: Connection, counted: Counted) -> None:
        self._connection = connection
        self._counted = counted
        connector = aiohttp.TCPConnector(ssl=connection.tls(), limit=64)
        self._session = aiohttp.ClientSession(connector=connector, timeout=_TIMEOUT)

    async def close(self) -> None:
        """Close all connections."""
        await self._session.close()

    async def request(
        self,
        verb: str,
        path: str,
        *,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Ask and read the whole answer; a server that is busy is asked again.

        All our writes are safe to repeat: creates have fixed names, the others preconditions.

        Raises:
            ClusterError: Or the kind of it that the status means.
        """
        for attempt in range(_TRIES):
            try:
                async with self.open(verb, path, body=body, query=query) as answer:
                    content: dict[str, Any] = json.loads(await answer.read())
                    return content
            except ClusterError as error:
                if error.status not in _BUSY or attempt == _TRIES - 1:
                    raise
                await asyncio.sleep(0.25 * 2**attempt)
        raise AssertionError("unreachable")

    @asynccontextmanager
    async def open(
        self,
        verb: str,
        path: str,
        *,
        body: Body | None = None,
        query: Mapping[str, str] | None = None,
        limit: aiohttp.ClientTimeout = _TIMEOUT,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """Ask and hand over the answer as it comes; errors as ``request``."""
        code = "error"
        try:
            async with self._session.request(
                verb,
                self._connection.server + path,
                params=query,
                data=None if body is None else json.dumps(body).encode(),
                headers=self._headers(verb),
                timeout=limit,
            ) as answer:
                code = str(answer.status)
                if answer.status >= 400:
                    raise _error(answer.status, await answer.read())
                yield answer
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            message = f"{verb} {path}: {type(error).__name__}: {error}"
            raise ClusterError(0, "Unreachable", message) from error
        finally:
            self._counted(verb, code)

    def _headers(self, verb: str) -> dict[str, str]:
        content = _MERGE_PATCH if verb == "PATCH" else "application/json"
        headers = {"Accept": "application/json", "Content-Type": content}
        token = self._connection.token()
        if token:
            headers["Authorization"] = f"Bearer {token}"
        return headers


def path_of(kind: Kind, namespace: str | None, name: str | None = None) -> str:
    """Path of an object, or of all objects of a kind; ``namespace`` None: everywhere."""
    root = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    place = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{place}/{kind.plural}" + (f"/{name}" if name else "")


def _error(status: int, content: bytes) -> ClusterError:
    reason, message = "", content[:500].decode(errors="replace")
    try:
        body = json.loads(content)
        reason, message = str(body.get("reason", "")), str(body.get("message", message))
    except (ValueError, AttributeError):
        pass  # a proxy in between answers in its own words
    return _class_of(status, reason)(status, reason, message)


def _class_of(status: int, reason: str) -> type[ClusterError]:
    if status == 409:
        return ExistsError if reason == "AlreadyExists" else PreconditionError
    if status in (404, 410):
        return MissingError if status == 404 else ClusterError
    return RefusedError if status in (400, 403, 413, 422) else ClusterError
