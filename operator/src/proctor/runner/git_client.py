"""Fetches one commit from a git server over HTTPS: smart protocol, depth 1, one host only.

What comes back is a pack in a file, as the server sent it; ``git_pack`` looks into it.
"""

import re
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import urllib3
from dulwich.client import HttpGitClient
from dulwich.errors import GitProtocolError
from dulwich.object_store import ObjectStoreGraphWalker
from dulwich.objects import ObjectID
from dulwich.refs import Ref
from urllib3.exceptions import HTTPError
from urllib3.util import Retry, Timeout, make_headers, parse_url

from proctor.api.git import FETCH_SECONDS
from proctor.runner.fetch_places import GitSource
from proctor.runner.git_errors import REMEDY, GitRefusedError, GitUnreachableError

MOST_PACK_BYTES = 256 << 20

_TIMEOUT = Timeout(connect=15, read=60)
_SAID_BYTES = 300
_UNKNOWN = re.compile(r"not our ref|unadvertised object|bad object")
_ERROR = re.compile(rb"[0-9a-f]{4}ERR ([^\0]*)", re.DOTALL)
_ID = re.compile(r"\b[0-9a-f]{40}\b")
_GIT = "application/x-git-"
_TUNNEL = re.compile(r"Tunnel connection failed: (\d{3})")

_FAULTS = (GitProtocolError, HTTPError, OSError, AssertionError, LookupError, ValueError)
"""What dulwich raises over a server that is away, breaks off, or says what it does not expect."""


@dataclass(frozen=True, slots=True)
class Access:
    """How the server is reached.

    Args:
        username: None: nobody asks for one.
        proxy: URL with user name and password; None: directly.
        authorities: Certificates in PEM that are trusted besides the system's; None: no others.
    """

    username: str | None = None
    password: str | None = field(default=None, repr=False)
    proxy: str | None = field(default=None, repr=False)
    authorities: str | None = None


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came besides the pack: commits of which the parents were left out."""

    shallow: frozenset[bytes]


def fetch_pack(
    source: GitSource,
    access: Access,
    pack: BinaryIO,
    clock: Callable[[], float] = time.monotonic,
) -> Fetched:
    """Write the pack with this commit, its trees and files.

    Raises:
        GitRefusedError: The server will not give it to us.
        GitUnreachableError: The server cannot be reached, or broke off.
    """
    deadline = clock() + FETCH_SECONDS
    size = 0

    def keep(data: bytes) -> int:
        nonlocal size
        size += len(data)
        if size > MOST_PACK_BYTES:
            raise GitRefusedError(f"it is more than {MOST_PACK_BYTES >> 20} MiB packed: {REMEDY}")
        if clock() > deadline:
            raise GitUnreachableError(f"it is not here after {FETCH_SECONDS} s")
        return pack.write(data)

    try:
        client = _Client(source, access)
    except UnicodeEncodeError:
        said = "user name or password has characters beyond Latin-1, which HTTP does not carry"
        raise GitRefusedError(f"{said}: give the server another one") from None
    try:
        return _fetch(client, source, keep)
    except _FAULTS as error:
        said = client.complaint() or str(error) or type(error).__name__
        raise _explained(said, error) from error


def _fetch(client: "_Client", source: GitSource, keep: Callable[[bytes], int]) -> Fetched:
    def wanted(refs: Mapping[Ref, ObjectID], depth: int | None = None) -> list[ObjectID]:
        return [ObjectID(source.commit.encode())]

    walker = ObjectStoreGraphWalker([], lambda _: [], shallow=set())
    result = client.fetch_pack("", wanted, walker, keep, depth=1, ref_prefix=[b"HEAD"])
    return Fetched(frozenset(bytes(one) for one in result.new_shallow or ()))


class _Client(HttpGitClient):
    """Dulwich's client with our connections and our words for what the server answers."""

    def __init__(self, source: GitSource, access: Access) -> None:
        super().__init__(
            source.url,
            pool_manager=_connections(source, access),
            username=access.username,
            password=access.password,
            thin_packs=False,
            quiet=True,
        )
        self._has_password = access.password is not None
        self._heard = b""

    def complaint(self) -> str:
        """What the server said last instead of what it was asked for; dulwich does not listen."""
        found = _ERROR.match(self._heard)
        return _text(found[1]) if found else ""

    def _http_request(
        self,
        url: str,
        headers: dict[str, str] | None = None,
        data: bytes | Iterator[bytes] | None = None,
        raise_for_status: bool = True,
    ) -> tuple[Any, Callable[[int], bytes]]:
        answer, read = super()._http_request(url, headers, data, raise_for_status=False)
        if answer.status != 200:
            said = f"{answer.status} {_text(read(_SAID_BYTES))}".strip()
            answer.close()
            raise _refused(answer.status, said, self._has_password)
        if not (answer.headers.get("Content-Type") or "").startswith(_GIT):
            answer.close()
            raise GitRefusedError(
                "what answers is no git server of the smart protocol: check the URL"
            )
        self._heard = b""

        def listen(count: int) -> bytes:
            data = read(count)
            self._heard += data[: _SAID_BYTES - len(self._heard)]
            return data

        return answer, listen


class _OneOrigin(urllib3.PoolManager):
    """Connections to one scheme, host and port, redirects included."""

    origin: tuple[str | None, str | None, int]

    def urlopen(  # type: ignore[override]
        self, method: str, url: str, redirect: bool = True, **kw: Any
    ) -> urllib3.BaseHTTPResponse:
        """Send a request; one that leads elsewhere is refused."""
        if _origin(url) != self.origin:
            asked = parse_url(url)
            raise GitRefusedError(
                f"the URL leads to {asked.scheme}://{asked.netloc}: write where the repository is "
                "now"
            )
        return super().urlopen(method, url, redirect, **kw)


class _ByProxy(_OneOrigin, urllib3.ProxyManager):
    """The same through a proxy."""


def _connections(source: GitSource, access: Access) -> urllib3.PoolManager:
    context = ssl.create_default_context()
    if access.authorities is not None:
        try:
            context.load_verify_locations(cadata=access.authorities)
        except ssl.SSLError as error:
            raise GitRefusedError(
                f"the certificates in ca.crt or GIT_SSL_CAINFO are not PEM: {error}"
            ) from error
    retries = Retry(total=8, connect=2, redirect=5, read=0, status=0, other=0)
    options: dict[str, Any] = {"ssl_context": context, "timeout": _TIMEOUT, "retries": retries}
    made: _OneOrigin
    if access.proxy is None:
        made = _OneOrigin(**options)
    else:
        parts = parse_url(access.proxy)
        plain = parts._replace(auth=None).url
        login = make_headers(proxy_basic_auth=parts.auth) if parts.auth else {}
        made = _ByProxy(plain, proxy_headers=login, **options)
    made.origin = _origin(source.url)
    return made


def _origin(url: str) -> tuple[str | None, str | None, int]:
    parts = parse_url(url)
    return parts.scheme, parts.host, parts.port or 443


def _refused(status: int, said: str, has_password: bool) -> GitRefusedError | GitUnreachableError:
    message = f"the server says {said}"
    if status == 401 and not has_password:
        return GitRefusedError(f"{message}: set workspace.git.secretRef")
    if status in (401, 403):
        return GitRefusedError(f"{message}: check the Secret of workspace.git.secretRef")
    if status == 404:
        return GitRefusedError(
            f"{message}: check the URL, or set workspace.git.secretRef if it is private"
        )
    if status == 429 or status >= 500:
        return GitUnreachableError(message)
    return GitRefusedError(f"{message}: check the URL")


def _explained(said: str, error: BaseException) -> GitRefusedError | GitUnreachableError:
    """What the server, the proxy or the connection said, as an error of ours."""
    if _UNKNOWN.search(said):
        words = _ID.sub("…", said)
        return GitRefusedError(
            f"the server says {words}: name a commit that a branch or tag leads to (git ls-remote)"
        )
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return GitRefusedError(
            f"its certificate is not trusted ({_cause(error)}): give the authority's as ca.crt in "
            "the Secret of workspace.git.secretRef, or, for `proctor run`, as GIT_SSL_CAINFO"
        )
    if "does not support shallow" in said:
        return GitRefusedError(said)
    tunnel = _TUNNEL.search(said)
    if tunnel and tunnel[1] == "403":
        return GitRefusedError("the egress proxy refuses the host: it has no public address")
    return GitUnreachableError(said)


def _cause(error: BaseException) -> str:
    """The innermost reason that is known."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    return str(error)


def _text(data: bytes) -> str:
    """What can be shown of an answer's beginning; pages of HTML say nothing."""
    text = " ".join(data.decode(errors="replace").split())
    return "" if "<" in text else text[:200]
