"""Bounded waits for what other processes do."""

import time
from collections.abc import Callable

_SECONDS = 60.0
_PAUSE_SECONDS = 0.1


def until(holds: Callable[[], object], otherwise: str) -> None:
    """Wait until it holds; ``otherwise`` says what is wrong when it never does."""
    deadline = time.monotonic() + _SECONDS
    while not holds():
        assert time.monotonic() < deadline, otherwise
        time.sleep(_PAUSE_SECONDS)
