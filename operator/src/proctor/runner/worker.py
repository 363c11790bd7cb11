"""Judges all criteria in one child process, so that evidence can only break the child.

A crash or a hang ends the child and scores the criterion that it was at 0: evidence did it, and a
harmless sample would not. Then another child goes on with the next one. The child is forked: in
a trial pod the interpreter cannot be started again by its own name.
"""

import contextlib
import math
import os
import resource
import select
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from proctor.api.verdict import Scored, Unscored
from proctor.runner.judgement import EXHAUSTED, Judgement
from proctor.runner.memory import Memory

CRITERION_SECONDS = 30.0
_MOST_MEMORY = 1 << 30
_SHARE = 0.75
_LINE_BYTES = 1 << 20

Judge = Callable[[int], Judgement]


@dataclass(frozen=True, slots=True)
class WorkerLimits:
    """What judging may take; ``memory_bytes`` of the child, ``deadline`` by ``time.monotonic``."""

    deadline: float
    criterion_seconds: float = CRITERION_SECONDS
    memory_bytes: int = _MOST_MEMORY


def worker_memory(container: Memory | None) -> int:
    """Most bytes of a child: less than its container has, where the kernel would end all of it.

    Args:
        container: None: it has no limit.
    """
    return _MOST_MEMORY if container is None else min(_MOST_MEMORY, int(container.limit * _SHARE))


def judge_in_worker(count: int, make: Callable[[], Judge], limits: WorkerLimits) -> list[Judgement]:
    """Judge criteria 0 to ``count`` - 1, in order.

    Args:
        count: How many there are.
        make: Called in the child, once, within the first criterion's time: reads the evidence.
        limits: Of time and memory.

    Returns:
        One for each, whatever happened.
    """
    judged: list[Judgement] = []
    while len(judged) < count:
        if time.monotonic() >= limits.deadline:
            judged.append(_limit(len(judged), "the time for grading was used up", 0.0))
            continue
        judged.extend(_judge_from(len(judged), count, make, limits))
    return judged


def _judge_from(
    first: int, count: int, make: Callable[[], Judge], limits: WorkerLimits
) -> Iterator[Judgement]:
    """Judgements of one child; when it breaks, the last one says how."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        _be_worker(range(first, count), make, writer, limits)
    os.close(writer)
    try:
        lines = _Lines(reader)
        for index in range(first, count):
            begin = time.monotonic()
            until = min(begin + limits.criterion_seconds, limits.deadline)
            line = lines.next(until)
            if line is None:
                seconds = time.monotonic() - begin
                what = "died" if lines.ended else f"did not end within {seconds:.0f} s"
                yield _limit(index, f"judging {what}", seconds)
                return
            yield Judgement.from_line(line)
    finally:
        os.close(reader)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def _limit(index: int, what: str, seconds: float) -> Judgement:
    return Judgement(index, Scored(0.0, f"evidence is beyond its limit: {what}"), seconds)


class _Lines:
    """Lines from a pipe, each with a deadline."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._buffer = b""
        self.ended = False

    def next(self, until: float) -> bytes | None:
        """The next line without its end, or None: too late, or nobody writes any more."""
        while b"\n" not in self._buffer:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self._descriptor], [], [], left)[0]:
                return None
            chunk = os.read(self._descriptor, _LINE_BYTES)
            if not chunk:
                self.ended = True
                return None
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        return line


def _be_worker(
    indexes: range, make: Callable[[], Judge], writer: int, limits: WorkerLimits
) -> None:
    """The child's life; never returns."""
    code = 1
    try:
        _limit_child(limits)
        judge = _guarded(make)
        with open(writer, "wb", buffering=0) as out:
            for index in indexes:
                out.write(judge(index).to_line())
        code = 0
    finally:
        os._exit(code)


def _guarded(make: Callable[[], Judge]) -> Judge:
    """Judge so that memory and depth count as limits of the evidence, and a bug as ours."""
    judges: list[Judge] = []

    def judge(index: int) -> Judgement:
        begin = time.monotonic()
        try:
            if not judges:
                judges.append(make())
            return judges[0](index)
        except EXHAUSTED as error:
            return _limit(index, type(error).__name__, time.monotonic() - begin)
        except Exception as error:  # noqa: BLE001 - said as unscored, never the agent's zero
            reason = f"judging failed: {type(error).__name__}: {error}"
            return Judgement(index, Unscored(reason), time.monotonic() - begin)

    return judge


def _limit_child(limits: WorkerLimits) -> None:
    """Limit the child's data and its processor time, should it outlive us in an endless search.

    It is the kernel's first choice when memory runs out.
    """
    seconds = max(1, math.ceil(limits.deadline - time.monotonic())) + 5
    for kind, most in (
        (resource.RLIMIT_DATA, limits.memory_bytes),
        (resource.RLIMIT_CPU, seconds),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, resource.getrlimit(kind)[1]))
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")
