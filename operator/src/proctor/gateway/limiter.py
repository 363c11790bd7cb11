"""Shares a provider's limits among trials: calls that must wait go in turn, one of each trial."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import datetime

from proctor.gateway.hints import windows
from proctor.gateway.pace import Pace

_MOST_PROVIDERS = 1000

LONGEST_SECONDS = 60.0
"""A call that has waited so long goes: what the provider then says is what the agent is told."""


class Turn:
    """A call that may go, until its context ends."""

    def __init__(self, limiter: "Limiter", number: int, now: Callable[[], datetime]) -> None:
        self._limiter = limiter
        self.number = number
        self._now = now
        self.went_well = True

    def end(self) -> None:
        """The call is no longer in flight."""
        self._limiter.ended(self)

    def answered(self, headers: Mapping[str, str]) -> None:
        """Learn from an answer's headers, with names in lower case."""
        found = windows(headers, self._now())
        self._limiter.pace.answered(self.number, found, self._limiter.clock())

    def refused(self, seconds: float) -> None:
        """The provider refused for its load or our limit: nobody asks it for so long."""
        self.went_well = False
        self._limiter.pace.refused(seconds, self._limiter.clock())


class Limiter:
    """The limits of one provider and key.

    Args:
        now: The time, for headers that name one.
        clock: Seconds that only grow.
    """

    def __init__(self, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self.pace = Pace()
        self.clock = clock
        self._now = now
        self._queues: OrderedDict[str, deque[_Waiting]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    @asynccontextmanager
    async def turn(self, trial: str, tokens: int) -> AsyncIterator[Turn]:
        """Wait until a call of ``trial`` may go; it is in flight until the context ends."""
        turn = await self.begin(trial, tokens)
        try:
            yield turn
        finally:
            turn.end()

    async def begin(self, trial: str, tokens: int) -> Turn:
        """The same for who ends the turn itself, in each case."""
        number = self._at_once(tokens)
        if number is None:
            number = await self._number(trial, tokens)
        return Turn(self, number, self._now)

    def ended(self, turn: Turn) -> None:
        """A call is no longer in flight."""
        self.pace.ended(turn.number, well=turn.went_well)
        self._pump()

    @property
    def waiting(self) -> int:
        """Calls that wait."""
        return sum(len(queue) for queue in self._queues.values())

    def _at_once(self, tokens: int) -> int | None:
        """The number of a call that waits for nobody; None: it has to wait."""
        if self._queues:
            return None
        now = self.clock()
        return self.pace.sent(tokens, now) if self.pace.wait_seconds(tokens, now) == 0 else None

    async def _number(self, trial: str, tokens: int) -> int:
        waiting = _Waiting(tokens, self.clock())
        self._queues.setdefault(trial, deque()).append(waiting)
        self._pump()
        try:
            return await waiting.number
        except asyncio.CancelledError:
            self._leave(trial, waiting)
            raise

    def _leave(self, trial: str, waiting: "_Waiting") -> None:
        """A client went away: before its turn, or in the moment that it came."""
        if waiting.number.done() and not waiting.number.cancelled():
            self.pace.ended(waiting.number.result(), well=False)
        queue = self._queues.get(trial)
        if queue is not None and waiting in queue:
            queue.remove(waiting)
            if not queue:
                del self._queues[trial]
        self._pump()

    def _pump(self) -> None:
        """Let go whoever may; the trial that went last comes last."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._queues:
            trial, queue = next(iter(self._queues.items()))
            now = self.clock()
            seconds = self.pace.wait_seconds(queue[0].tokens, now)
            if seconds is None:
                return
            seconds = min(seconds, queue[0].since + LONGEST_SECONDS - now)
            if seconds > 0:
                self._timer = asyncio.get_running_loop().call_later(seconds, self._pump)
                return
            waiting = queue.popleft()
            if queue:
                self._queues.move_to_end(trial)
            else:
                del self._queues[trial]
            if not waiting.number.done():
                waiting.number.set_result(self.pace.sent(waiting.tokens, now))


class _Waiting:
    def __init__(self, tokens: int, since: float) -> None:
        self.tokens = tokens
        self.since = since
        self.number: asyncio.Future[int] = asyncio.get_running_loop().create_future()


class Limiters:
    """One for each provider and key; a key that was renewed begins anew."""

    def __init__(self, now: Callable[[], datetime], clock: Callable[[], float]) -> None:
        self._now = now
        self._clock = clock
        self._limiters: OrderedDict[tuple[str, str | None], Limiter] = OrderedDict()

    def of(self, provider: str, key: str | None) -> Limiter:
        """The limiter of a provider and a key."""
        place = (provider, key)
        if place not in self._limiters:
            self._limiters[place] = Limiter(self._now, self._clock)
            if len(self._limiters) > _MOST_PROVIDERS:
                self._limiters.popitem(last=False)
        return self._limiters[place]
