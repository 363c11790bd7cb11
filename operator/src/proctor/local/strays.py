"""What a phase leaves when its keeper was killed: it becomes ours, and is killed.

An agent runs as the same user as its keeper, so it can kill it. The orphans go to the nearest
process that adopts them, which is this one once it says so. Without ``prctl`` (macOS) they are
not found.
"""

import ctypes
import os
import signal
import sys
import time
from collections.abc import Collection
from contextlib import suppress

from proctor.runner.processes import Process, descendants, list_processes

_PR_SET_CHILD_SUBREAPER = 36
_KILL_SECONDS = 10.0
_PAUSE_SECONDS = 0.01


def adopt_orphans(*, adopt: bool = True) -> None:
    """From now on orphans below this process become its children, or no longer do."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(adopt), 0, 0, 0)


def children() -> frozenset[int]:
    """Those that this process has now."""
    return frozenset(one.pid for one in list_processes() if one.parent == os.getpid())


def kill_below(pid: int) -> None:
    """Kill a process with everything below it; what is started meanwhile is a stray."""
    for process in (*descendants(pid, list_processes()), Process(pid, 0, 0, False)):
        _kill(process.pid)


def kill_strays(known: Collection[int]) -> None:
    """Kill and collect all children of this process but ``known``, with everything below them."""
    deadline = time.monotonic() + _KILL_SECONDS
    while time.monotonic() < deadline:
        processes = list_processes()
        strays = [
            process
            for process in processes
            if process.parent == os.getpid() and process.pid not in known
        ]
        if not strays:
            return
        for stray in strays:
            for process in (*descendants(stray.pid, processes), stray):
                _kill(process.pid)
            with suppress(ChildProcessError):
                os.waitpid(stray.pid, os.WNOHANG)
        time.sleep(_PAUSE_SECONDS)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
