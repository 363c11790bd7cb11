"""What the runner does to itself before any code of a task or an agent runs beside it."""

import os
import sys

from proctor.api.errors import PlatformError

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36


def harden() -> None:
    """Close ``/proc/<runner>`` to other processes of this user, and adopt orphans.

    Must run after the last exec, which resets both. Not dumpable, nobody of the same user reads
    our environment, memory or files. PID 1 gets orphans anyway; elsewhere the subreaper does.
    Without ``prctl`` (macOS) neither exists, and freezing is by process groups and parents.

    Raises:
        PlatformError: When Linux refuses.
    """
    hide()
    if sys.platform == "linux" and os.getpid() != 1:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def hide() -> None:
    """Close ``/proc/<own>`` to other processes of this user; who is root still reads it.

    Raises:
        PlatformError: When Linux refuses.
    """
    if sys.platform == "linux":
        _prctl(_PR_SET_DUMPABLE, 0)


def _prctl(option: int, value: int) -> None:
    import ctypes  # 14 ms that only these phases pay

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(option, value, 0, 0, 0) != 0:
        raise PlatformError(f"prctl({option}, {value}): {os.strerror(ctypes.get_errno())}")
