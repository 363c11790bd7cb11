"""What a client asks of the proxy, and how it is refused; pure."""

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass

from proctor.api.egress import host_and_port
from proctor.api.egress_pass import USER, EgressPass, PassError, read_pass

LONGEST_HEAD = 64 * 1024

_CONNECT = re.compile(r"CONNECT ([A-Za-z0-9.-]{1,253}):([0-9]{1,5}) HTTP/1\.[01]")
_WORDS = {
    400: "Bad Request",
    403: "Forbidden",
    405: "Method Not Allowed",
    407: "Proxy Authentication Required",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
    503: "Service Unavailable",
}


class RefusedError(Exception):
    """The proxy does not do it.

    Args:
        status: HTTP status of the answer.
        reason: One sentence, for the client and the log.
    """

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason

    def answer(self) -> bytes:
        """The HTTP response."""
        body = f"proctor egress proxy: {self.reason}\n".encode()
        challenge = 'Proxy-Authenticate: Basic realm="proctor"\r\n' if self.status == 407 else ""
        head = (
            f"HTTP/1.1 {self.status} {_WORDS[self.status]}\r\n{challenge}"
            f"Content-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        )
        return head.encode() + body


@dataclass(frozen=True, slots=True)
class Target:
    """Where a client wants to go; ``host`` is a name in lower case."""

    host: str
    port: int


@dataclass(frozen=True, slots=True)
class Request:
    """A CONNECT.

    Args:
        password: Of ``Proxy-Authorization: Basic``; None: none was sent.
    """

    target: Target
    password: str | None


def read_request(head: bytes) -> Request:
    """Read the head of a request, up to its empty line.

    Raises:
        RefusedError: It is no CONNECT to a named host.
    """
    try:
        line, *fields = head.decode("ascii").removesuffix("\r\n\r\n").split("\r\n")
    except UnicodeDecodeError:
        raise RefusedError(400, "the request is not ASCII") from None
    found = _CONNECT.fullmatch(line)
    if found is None:
        raise RefusedError(405, "only CONNECT to a host's name is served: use https")
    return Request(Target(found[1].lower(), int(found[2])), _password(fields))


def require_leave(
    request: Request, secret: bytes, now: float, tell: Callable[[EgressPass], None]
) -> EgressPass:
    """The pass of a request whose target is one of its hosts; ``tell`` learns whose it is.

    Raises:
        RefusedError: There is no pass, it opens nothing, or not this.
    """
    if request.password is None:
        raise RefusedError(407, "no pass was sent")
    try:
        found = read_pass(request.password, secret, now)
    except PassError as error:
        raise RefusedError(407, str(error)) from None
    tell(found)
    target = request.target
    if (target.host, target.port) not in [host_and_port(entry) for entry in found.hosts]:
        raise RefusedError(403, f"{target.host}:{target.port} is not in sandbox.egress.hosts")
    return found


def _password(fields: list[str]) -> str | None:
    for field in fields:
        name, _, value = field.partition(":")
        scheme, _, coded = value.strip().partition(" ")
        if name.strip().lower() == "proxy-authorization" and scheme.lower() == "basic":
            return _basic(coded.strip())
    return None


def _basic(coded: str) -> str | None:
    try:
        user, _, password = base64.b64decode(coded, validate=True).decode().partition(":")
    except ValueError:
        return None
    return password if user == USER else None
