"""Which runs to look at, and when: marks, deadlines, one pass per run at a time (no clock)."""

import heapq
from datetime import datetime

from proctor.controller.seen import RunKey


class Due:
    """A queue of runs. A run that is marked while it is looked at comes again afterwards."""

    def __init__(self) -> None:
        self._ready: dict[RunKey, None] = {}  # a dict keeps the order in which they were marked
        self._busy: set[RunKey] = set()
        self._again: set[RunKey] = set()
        self._timers: list[tuple[datetime, RunKey]] = []
        self._at: dict[RunKey, datetime] = {}

    def mark(self, run: RunKey) -> None:
        """Look at it as soon as possible."""
        if run in self._busy:
            self._again.add(run)
        else:
            self._ready[run] = None

    def mark_at(self, run: RunKey, when: datetime) -> None:
        """Look at it then, if nothing leads there before; the earliest moment counts."""
        known = self._at.get(run)
        if known is None or when < known:
            self._at[run] = when
            heapq.heappush(self._timers, (when, run))

    def take(self, now: datetime) -> RunKey | None:
        """The next run to look at; it stays taken until ``done``."""
        self._ring(now)
        if not self._ready:
            return None
        run = next(iter(self._ready))
        del self._ready[run]
        self._at.pop(run, None)
        self._busy.add(run)
        return run

    def done(self, run: RunKey, again_at: datetime) -> None:
        """The pass over it has ended; what came meanwhile leads to another one then."""
        self._busy.discard(run)
        if run in self._again:
            self._again.discard(run)
            self.mark_at(run, again_at)

    def next_at(self) -> datetime | None:
        """When the next timer rings; None: only marks matter."""
        while self._timers and self._at.get(self._timers[0][1]) != self._timers[0][0]:
            heapq.heappop(self._timers)
        return self._timers[0][0] if self._timers else None

    def _ring(self, now: datetime) -> None:
        while (when := self.next_at()) is not None and when <= now:
            _, run = heapq.heappop(self._timers)
            del self._at[run]
            self.mark(run)
