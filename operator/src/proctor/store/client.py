"""The results server's client: sends folders, reads them back. Standard library only.

Blocking: ``grade`` and the command line have nothing else to do meanwhile.
"""

import http.client
import json
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from proctor.api.results import MANIFEST_FIRST

_TIMEOUT_SECONDS = 30
_CHUNK_BYTES = 1 << 20
_ANSWER_BYTES = 64 << 20
_NOT_FINAL = (HTTPStatus.TOO_MANY_REQUESTS, MANIFEST_FIRST)


class ResultsError(Exception):
    """The server cannot be asked, or refused; the message says what.

    Args:
        status: HTTP status; None: there was no answer.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_final(self) -> bool:
        """Whether beginning again changes nothing: what was sent is at fault."""
        return (
            self.status is not None and 400 <= self.status < 500 and self.status not in _NOT_FINAL
        )


@dataclass(frozen=True, slots=True)
class ResultsClient:
    """Asks one server.

    Args:
        url: Without a slash at the end; may have a path.
        headers: With each request: who is asking. Called each time, because tokens are renewed.
        tls: For https; None: the system's authorities.
    """

    url: str
    headers: Callable[[], Mapping[str, str]]
    tls: ssl.SSLContext | None = None
    timeout_seconds: float = field(default=_TIMEOUT_SECONDS)

    def send_folder(
        self, base: str, digest: str, manifest: bytes, files: Mapping[str, Path]
    ) -> None:
        """Send a folder: its manifest, and those parts that the server lacks.

        Once more when the server forgot the manifest meanwhile. ``files`` holds every part's file
        by SHA-256.

        Raises:
            ResultsError: It is not stored.
        """
        try:
            self._send_folder(f"{base}/{digest}", manifest, files)
        except ResultsError as error:
            if error.status != MANIFEST_FIRST:
                raise
            self._send_folder(f"{base}/{digest}", manifest, files)

    def _send_folder(self, path: str, manifest: bytes, files: Mapping[str, Path]) -> None:
        for sha256 in self._offer(path, manifest):
            if sha256 not in files:
                raise ResultsError(f"the server asks for {sha256}, which is no part", 400)
            self._send_file(f"{path}/parts/{sha256}", files[sha256])
        if missing := self._offer(path, manifest):
            raise ResultsError(f"{len(missing)} parts are missing after they were sent")

    def json(self, path: str) -> Any:
        """An answer in JSON."""
        return json.loads(b"".join(self.read(path)))

    def read(self, path: str) -> Iterator[bytes]:
        """An answer's body in pieces; ``ResultsError`` when it is not 200 or is cut short."""
        connection = self._connect()
        try:
            response = self._ask(connection, "GET", path)
            if response.status != 200:
                raise _refusal(response)
            while chunk := response.read(_CHUNK_BYTES):
                yield chunk
            if response.length:
                raise http.client.IncompleteRead(b"", response.length)
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(self.url, error) from error
        finally:
            connection.close()

    def _offer(self, path: str, manifest: bytes) -> list[str]:
        body = json.loads(self._put(path, manifest, len(manifest)))
        return [str(one) for one in body["missing"]]

    def _send_file(self, path: str, file: Path) -> None:
        with file.open("rb") as body:
            self._put(path, body, file.stat().st_size)

    def _put(self, path: str, body: Any, size: int) -> bytes:
        connection = self._connect()
        try:
            response = self._ask(connection, "PUT", path, body, {"Content-Length": str(size)})
            if response.status >= 300:
                raise _refusal(response)
            return response.read(_ANSWER_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise _unreachable(self.url, error) from error
        finally:
            connection.close()

    def _ask(
        self,
        connection: http.client.HTTPConnection,
        verb: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> http.client.HTTPResponse:
        own = {**self.headers(), **(headers or {})}
        # A server that refuses a body answers before it has read all of it.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.request(verb, urlsplit(self.url).path + path, body=body, headers=own)
        return connection.getresponse()

    def _connect(self) -> http.client.HTTPConnection:
        parts = urlsplit(self.url)
        host, port = parts.hostname or "", parts.port
        if parts.scheme == "https":
            return http.client.HTTPSConnection(
                host, port, timeout=self.timeout_seconds, context=self.tls
            )
        return http.client.HTTPConnection(host, port, timeout=self.timeout_seconds)


def part_path(base: str, digest: str, path: str) -> str:
    """Where a part of a stored folder is read."""
    return f"{base}/{digest}/parts/{quote(path, safe='/')}"


def _refusal(response: http.client.HTTPResponse) -> ResultsError:
    data = response.read(4096)
    try:
        said = str(json.loads(data)["error"])
    except (ValueError, KeyError, TypeError):
        said = data[:200].decode(errors="replace").strip() or response.reason
    return ResultsError(said, response.status)


def _unreachable(url: str, error: Exception) -> ResultsError:
    host = urlsplit(url).netloc
    return ResultsError(f"{host} cannot be reached: {type(error).__name__}: {error}")
