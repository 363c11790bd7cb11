"""Ctrl-C, SIGTERM and SIGHUP: the first asks the run to end, the second ends all at once."""

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupt:
    """Whether the user asked to stop, and who has to be told."""

    def __init__(self) -> None:
        self.requested = False
        self._ask: Callable[[], None] | None = None
        self._force: Callable[[], None] | None = None

    @contextmanager
    def telling(self, ask: Callable[[], None], force: Callable[[], None]) -> Iterator[None]:
        """Within: call ``ask`` at the first signal, ``force`` at each one after it."""
        self._ask, self._force = ask, force
        try:
            yield
        finally:
            self._ask = self._force = None

    def signalled(self) -> None:
        """A signal came."""
        tell = self._force if self.requested else self._ask
        self.requested = True
        if tell is not None:
            tell()


@contextmanager
def catching_signals(interrupt: Interrupt) -> Iterator[None]:
    """Within: signals go to ``interrupt`` instead of ending this process."""
    loop = asyncio.get_running_loop()
    for number in _SIGNALS:
        loop.add_signal_handler(number, interrupt.signalled)
    try:
        yield
    finally:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)
