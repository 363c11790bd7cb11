"""Whether the pod's network is closed: proved before anything of the task or the agent runs.

A NetworkPolicy may be late, ignored by the cluster's network, or opened by somebody else's, and
nothing in the API says so. So the gateway opens a port that trials must not reach (a canary):
who reaches the gateway's other port, and not that one, is confined.
"""

import contextlib
import socket
import time
from collections.abc import Callable

from proctor.api.report import EXIT_NETWORK_OPEN, NETWORK_CLOSED, NETWORK_OPEN
from proctor.runner.gateway import GatewayUnreachableError
from proctor.runner.places import Address, NotStartedError, Proof

_SECONDS = 30.0
_REPORT_SECONDS = 2.0
"""For rules that come late where an open network is only reported: it is likely to stay open."""

_PAUSE_SECONDS = 0.2
_CONNECT_SECONDS = 5.0
_CANARY_SECONDS = 2.0
"""Many networks drop what they refuse; one lost packet is sent again after a second."""

Connects = Callable[[Address, float], str | None]
"""Tries to connect, so many seconds at most: None when it could, else what was said."""


class NetworkOpenError(NotStartedError):
    """The pod reaches what no trial may reach."""

    exit_code = EXIT_NETWORK_OPEN


def connects(address: Address, seconds: float) -> str | None:
    """Connect over TCP and hang up."""
    try:
        with contextlib.closing(socket.create_connection(address, timeout=seconds)):
            return None
    except OSError as error:
        return str(error)


def prove(
    proof: Proof,
    connect: Connects = connects,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Try for 30 seconds: rules for a new pod may come late. Returns what is so.

    Raises:
        GatewayUnreachableError: With what the last try said.
        NetworkOpenError: The canary could be reached all the time, and that is not allowed.
    """
    begin = clock()
    patience = _SECONDS
    while True:
        refused = connect(proof.reach, _CONNECT_SECONDS)
        # The gateway once more, afterwards: one that went down in between would look closed.
        open_ = connect(proof.shun, _CANARY_SECONDS) is None
        refused = refused or connect(proof.reach, _CONNECT_SECONDS)
        if refused is None and not open_:
            return NETWORK_CLOSED
        if refused is None and not proof.required:
            patience = _REPORT_SECONDS
        if clock() >= begin + patience:
            break
        sleep(_PAUSE_SECONDS)
    if refused is not None:
        raise GatewayUnreachableError(f"gateway {_text(proof.reach)}: {refused}")
    if proof.required:
        raise NetworkOpenError(
            f"{_text(proof.shun)} can be reached, so NetworkPolicies are not enforced here, or "
            "another one opens the pod"
        )
    return NETWORK_OPEN


def _text(address: Address) -> str:
    return f"{address[0]}:{address[1]}"
