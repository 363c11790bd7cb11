"""Bounded waits for what other processes do."""

import time
from collections.abc import Callable


def until(
    holds: Callable[[], object],
    otherwise: str | Callable[[], object],
    *,
    seconds: float = 90.0,
    pause_seconds: float = 0.5,
) -> None:
    """Wait until it holds.

    Args:
        otherwise: What is wrong when it does not hold in time; a function is asked only then.
        pause_seconds: Between two looks.
    """
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            said = otherwise() if callable(otherwise) else otherwise
            raise AssertionError(f"not within {seconds:g} s: {said}")
        time.sleep(pause_seconds)
