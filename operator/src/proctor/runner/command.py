"""One command to its end: bounded streams, a time limit, a session of its own."""

import contextlib
import math
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from proctor.api.evidence import CommandResult
from proctor.api.orders import ShellOrder
from proctor.api.report import ShellResult
from proctor.runner.stopping import Stop, block_again

STREAM_BYTES = 256 * 1024
_SHELL_CHARACTERS = 4000
_CHUNK = 65_536
_DRAIN_CHUNKS = 32  # twice what a pipe holds: a writer that outlives the command ends nothing
_POLL_SECONDS = 0.05


@dataclass(frozen=True, slots=True)
class Place:
    """Where commands run: their folder, their complete environment, and who may stop them."""

    folder: Path
    env: Mapping[str, str]
    stop: Stop


class _Capture:
    """The first bytes of a stream; the rest is read and dropped."""

    def __init__(self, descriptor: int, limit: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor = descriptor
        self.data = bytearray()
        self.truncated = False
        self._limit = limit

    def read(self) -> int | None:
        """Take one chunk; how long it is, 0 at the end, None when there is nothing now."""
        try:
            chunk = os.read(self.descriptor, _CHUNK)
        except BlockingIOError:
            return None
        room = self._limit - len(self.data)
        self.data += chunk[:room]
        self.truncated = self.truncated or len(chunk) > room
        return len(chunk)

    def drain(self) -> None:
        """Take what the ended command left in the pipe."""
        for _ in range(_DRAIN_CHUNKS):
            if not self.read():
                return


def run_command(
    argv: Sequence[str], place: Place, timeout_seconds: float, limit: int = STREAM_BYTES
) -> CommandResult:
    """Run ``argv`` until it ends, its time is up, or the runner is told to stop.

    Standard input is empty. What it leaves in the background lives on (``preRun`` starts services)
    until the caller's ``kill_everything``.
    """
    begin = time.monotonic()
    try:
        process = subprocess.Popen(
            argv,
            cwd=place.folder,
            env=place.env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        problem = f"cannot start {argv[0]!r}: {error}"
        return CommandResult(None, b"", b"", time.monotonic() - begin, problem=problem)
    finally:
        block_again()
    with process:
        assert process.stdout is not None
        assert process.stderr is not None
        streams = [_Capture(pipe.fileno(), limit) for pipe in (process.stdout, process.stderr)]
        ended_early = _follow(process, streams, begin + timeout_seconds, place.stop)
        if ended_early:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in streams:
            stream.drain()
    return CommandResult(
        exit_code=None if ended_early else process.returncode,
        stdout=bytes(streams[0].data),
        stderr=bytes(streams[1].data),
        seconds=time.monotonic() - begin,
        truncated=any(stream.truncated for stream in streams),
        problem=f"timed out after {timeout_seconds:g} s" if ended_early == "time" else ended_early,
    )


def _follow(
    process: subprocess.Popen[bytes], streams: Sequence[_Capture], deadline: float, stop: Stop
) -> str | None:
    """Read both streams until the command has ended; why, when it has to be ended."""
    with selectors.DefaultSelector() as selector, _exit_descriptor(process.pid) as ended:
        for stream in streams:
            selector.register(stream.descriptor, selectors.EVENT_READ, stream)
        selector.register(stop, selectors.EVENT_READ)
        if ended is not None:
            selector.register(ended, selectors.EVENT_READ)
        while process.poll() is None:
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            if stop.requested:
                return "the runner was told to stop"
            for key, _ in selector.select(left if ended is not None else min(left, _POLL_SECONDS)):
                if isinstance(key.data, _Capture) and key.data.read() == 0:
                    selector.unregister(key.fd)
    return None


@contextlib.contextmanager
def _exit_descriptor(pid: int) -> Iterator[int | None]:
    """A descriptor that becomes readable when the process ends; None where there is none."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def run_in_order(
    orders: Sequence[ShellOrder], place: Place, deadline: float = math.inf
) -> tuple[ShellResult, ...]:
    """Run ``preRun`` or ``postRun`` commands with the image's shell.

    The first one that must succeed and does not is the last result. ``deadline`` is a moment of
    ``time.monotonic``; what cannot begin before it is not run and not in the results.
    """
    results: list[ShellResult] = []
    for order in orders:
        left = deadline - time.monotonic()
        if left <= 0 or place.stop.requested:
            break
        results.append(_run_shell(order, place, min(order.timeout_seconds, left)))
        if order.fail_on_error and results[-1].exit_code != 0:
            break
    return tuple(results)


def _run_shell(order: ShellOrder, place: Place, seconds: float) -> ShellResult:
    done = run_command(("sh", "-c", order.command), place, seconds)
    output = (done.stdout + done.stderr).decode(errors="replace")
    if done.problem:
        output = f"{output}\n{done.problem}".strip()
    return ShellResult(order.command, done.exit_code, output[-_SHELL_CHARACTERS:], done.seconds)


def first_failure(results: Sequence[ShellResult], orders: Sequence[ShellOrder]) -> str | None:
    """Which command that must succeed did not; None when all did."""
    for result, order in zip(results, orders, strict=False):
        if order.fail_on_error and result.exit_code != 0:
            code = "did not end" if result.exit_code is None else f"exit code {result.exit_code}"
            return f"preRun {result.command!r}: {code}: {result.output[-300:]}"
    return None
