"""Ends a wait for an answer's next bytes that takes too long, with one timer an answer."""

import asyncio
from types import TracebackType

import aiohttp


class Patience:
    """A context around each wait for bytes of one answer.

    A timer for each wait would cost more than the bytes. This one looks from time to time whether
    a wait is under way, and since when.

    Args:
        content: The answer; a wait that takes too long gets ``TimeoutError``.
        idle_seconds: Longest wait.
        deadline: When the whole answer must have come, by the loop's clock.
    """

    def __init__(self, content: aiohttp.StreamReader, idle_seconds: float, deadline: float) -> None:
        self._content = content
        self._idle_seconds = idle_seconds
        self._deadline = deadline
        self._loop = asyncio.get_running_loop()
        self._waits_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None

    def __enter__(self) -> None:
        """A wait begins."""
        self._waits_since = now = self._loop.time()
        if self._timer is None:
            self._look_at(self._latest(now))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """It is over."""
        self._waits_since = None

    def end(self) -> None:
        """No further wait."""
        if self._timer is not None:
            self._timer.cancel()

    def _latest(self, since: float) -> float:
        return min(since + self._idle_seconds, self._deadline)

    def _look_at(self, moment: float) -> None:
        self._timer = self._loop.call_at(moment, self._look)

    def _look(self) -> None:
        now, since = self._loop.time(), self._waits_since
        self._timer = None
        if since is None:
            return  # the next wait sets it again
        latest = self._latest(since)
        if now < latest:
            self._look_at(latest)
        else:
            self._content.set_exception(TimeoutError())
