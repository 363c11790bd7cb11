"""When the runner is told to stop: by whom, and how its loops learn of it."""

import contextlib
import os
import signal
import sys
import threading
from typing import Any

_TERM = frozenset({signal.SIGTERM})


class Stop:
    """A wish to stop that a loop can wait for: ``fileno()`` becomes readable and stays so."""

    def __init__(self) -> None:
        self._reader, self._writer = os.pipe()
        os.set_blocking(self._writer, False)
        self.requested = False

    def fileno(self) -> int:
        """A descriptor for selectors and event loops."""
        return self._reader

    def request(self) -> None:
        """Ask to stop; safe from signal handlers and other threads."""
        self.requested = True
        with contextlib.suppress(BlockingIOError):
            os.write(self._writer, b"x")


def stop_on_signals() -> Stop:
    """Install the handlers of a phase that runs foreign code.

    As PID 1 only a SIGTERM from outside the container counts (``si_pid`` 0), but for the moment in
    which a child is started, and SIGINT never: anybody inside may send them. Elsewhere both count.
    """
    stop = Stop()
    if os.getpid() == 1:
        # A handler that does nothing, not SIG_IGN, which children would inherit.
        signal.signal(signal.SIGINT, _ignore)
        # While a child is started the mask is open, and a handler cannot tell who sent a signal.
        # One from the kubelet must not get lost then; from inside, the agent only ends itself.
        signal.signal(signal.SIGTERM, lambda *_: stop.request())
        _watch_outside(stop)
        return stop
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.request())
    return stop


def exit_on_signals() -> None:
    """For phases that run no foreign code: PID 1 would otherwise ignore SIGTERM."""
    signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))


def _ignore(*_: Any) -> None:
    """Do nothing."""


def _watch_outside(stop: Stop) -> None:
    """Wait for SIGTERM in a thread, because only ``sigwaitinfo`` tells who sent it."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _TERM)
    sys.addaudithook(_unblock_for_child)

    def wait() -> None:
        while True:
            if signal.sigwaitinfo(_TERM).si_pid == 0:
                stop.request()

    threading.Thread(target=wait, name="sigterm", daemon=True).start()


def _unblock_for_child(event: str, _: tuple[Any, ...]) -> None:
    """Give each child an open signal mask: it inherits the one of the thread that forks it.

    Adapters start processes in their own ways; this event is what all of them pass through. In an
    event loop the mask is closed again in its next turn, elsewhere by ``block_again``.
    """
    if event != "subprocess.Popen":
        return
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _TERM)
    asyncio = sys.modules.get("asyncio")
    if asyncio is not None:
        with contextlib.suppress(RuntimeError):
            asyncio.get_running_loop().call_soon(block_again)


def block_again() -> None:
    """Close the signal mask after starting a child outside an event loop."""
    if os.getpid() == 1:
        signal.pthread_sigmask(signal.SIG_BLOCK, _TERM)
