"""What a trial shows the egress proxy: which hosts it may reach, signed by the operator.

The proxy has no token for the API server, so the pass says it all. Operator and proxy share a
secret. Standard library only.
"""

import base64
import hashlib
import hmac
import json
from dataclasses import asdict, dataclass

USER = "proctor"
"""User name beside the pass, which is the password."""

_PURPOSE = b"proctor-egress-pass-1\0"


class PassError(ValueError):
    """A pass that opens nothing; the message says why, without its content."""


@dataclass(frozen=True, slots=True)
class EgressPass:
    """Leave to reach hosts.

    Args:
        trial: UID of the EvalTrial.
        hosts: As in ``sandbox.egress.hosts``.
        expires_at: Seconds since 1970, UTC.
    """

    trial: str
    attempt: int
    hosts: tuple[str, ...]
    expires_at: int

    def signed(self, secret: bytes) -> str:
        """The pass as text: its content and its signature."""
        content = json.dumps(asdict(self), separators=(",", ":")).encode()
        return f"{_text(content)}.{_text(_signature(content, secret))}"


def read_pass(text: str, secret: bytes, now: float) -> EgressPass:
    """Check a pass.

    Raises:
        PassError: It is not one of ours, or it is over.
    """
    content, _, signature = text.partition(".")
    try:
        body, said = _bytes(content), _bytes(signature)
    except ValueError:
        raise PassError("the pass is not readable") from None
    if not hmac.compare_digest(said, _signature(body, secret)):
        raise PassError("the pass was not signed here")
    fields = json.loads(body)
    found = EgressPass(**{**fields, "hosts": tuple(fields["hosts"])})
    if now >= found.expires_at:
        raise PassError("the pass is over")
    return found


def _signature(content: bytes, secret: bytes) -> bytes:
    return hmac.new(secret, _PURPOSE + content, hashlib.sha256).digest()


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _bytes(text: str) -> bytes:
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
