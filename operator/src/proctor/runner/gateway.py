"""Whether the gateway can be reached, asked before an agent starts: later it would be its fault."""

import contextlib
import socket
import time

from proctor.api.report import EXIT_GATEWAY_UNREACHABLE
from proctor.runner.places import NotStartedError

_SECONDS = 30.0
_PAUSE_SECONDS = 0.2


class GatewayUnreachableError(NotStartedError):
    """Nothing listens at the gateway's address."""

    exit_code = EXIT_GATEWAY_UNREACHABLE


def await_gateway(url: str) -> None:
    """Connect once to the host and port of ``url``, within 30 seconds.

    Raises:
        GatewayUnreachableError: With what the last try said.
    """
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    address = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            with contextlib.closing(socket.create_connection(address, timeout=5)):
                return
        except OSError as error:
            if time.monotonic() > deadline:
                raise GatewayUnreachableError(f"gateway {url}: {error}") from error
        time.sleep(_PAUSE_SECONDS)
