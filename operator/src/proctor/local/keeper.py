"""The parent of one phase: nothing that the phase starts outlives it, nor the launcher.

Run as a script: ``python -I -S keeper.py GRACE_SECONDS PROGRAM ARGUMENT…``. Standard library only
and few imports, because one of these starts with every phase. The launcher holds the other end of
standard input: a byte asks the phase to end, end of file (also when the launcher was killed) ends
all at once. On Linux the keeper is a subreaper, so that a process that left its session, or whose
parent ended, is still found and killed.
"""

import ctypes
import os
import select
import signal
import subprocess
import sys
import time

_PR_SET_DUMPABLE = 4
_PR_SET_CHILD_SUBREAPER = 36
LAST_SWEEP_SECONDS = 10.0


def main(arguments: list[str]) -> int:
    """Run a program until it ends or must end; its exit code, or 128 + the signal's number."""
    grace_seconds, program = float(arguments[0]), arguments[1:]
    take_charge()
    wake = wake_on_signals()
    child = subprocess.Popen(program, stdin=subprocess.DEVNULL, start_new_session=True)
    try:
        code = _watch(child.pid, wake, grace_seconds)
    finally:
        _kill_everything(child.pid)
    return code if code >= 0 else 128 - code


def _watch(pid: int, wake: int, grace_seconds: float) -> int:
    """Wait for the child; its exit code, negative for a signal."""
    deadline: float | None = None
    while True:
        code = _reap(pid)
        if code is not None:
            return code
        timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
        readable, _, _ = select.select([0, wake], [], [], timeout)
        if wake in readable:
            os.read(wake, 4096)
        if 0 in readable and not os.read(0, 1):
            return -signal.SIGKILL
        if deadline is not None and time.monotonic() >= deadline:
            return -signal.SIGKILL
        if 0 in readable:
            deadline = deadline or time.monotonic() + grace_seconds
            os.kill(pid, signal.SIGTERM)


def _reap(pid: int) -> int | None:
    """Collect all that ended; the child's exit code when it was among them."""
    code = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return code
        if ended == 0:
            return code
        if ended == pid:
            code = os.waitstatus_to_exitcode(status)


def _kill_everything(pid: int) -> None:
    """Kill every descendant, again until none is left: each may have started another."""
    deadline = time.monotonic() + LAST_SWEEP_SECONDS
    while time.monotonic() < deadline:
        for one in _descendants(os.getpid()):
            _signal(os.kill, one)
        _signal(os.killpg, pid)
        _reap(pid)
        if not _has_children():
            return
        time.sleep(0.005)


def _signal(send: object, target: int) -> None:
    try:
        send(target, signal.SIGKILL)  # type: ignore[operator]
    except (ProcessLookupError, PermissionError):
        return


def _has_children() -> bool:
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _descendants(root: int) -> list[int]:
    """All processes below ``root``, parents before their children; empty without ``/proc``."""
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else []:
        if name.isdigit():
            children.setdefault(_parent(name), []).append(int(name))
    found, todo = [], [root]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def _parent(pid: str) -> int:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1


def take_charge() -> None:
    """Adopt orphans; no debugger of the same user makes up our exit code."""
    if sys.platform == "linux":
        prctl = ctypes.CDLL(None).prctl
        prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def wake_on_signals() -> int:
    """A descriptor that is readable when a child ended; the terminal's Ctrl-C is the launcher's."""
    read, write = os.pipe()
    for end in (read, write):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return read


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
