"""How fast one provider may be asked with one key: learned from its answers. Pure but for time.

Time is handed in, in seconds that only grow.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from proctor.gateway.hints import REQUESTS, Window

_NO_CAP = 1000
"""So many calls in flight are no cap any more."""


@dataclass(slots=True)
class _Bucket:
    """One limit, which fills again evenly until it is whole."""

    counts: str
    level: float
    limit: float
    per_second: float
    at: float

    def level_at(self, now: float) -> float:
        return min(self.limit, self.level + (now - self.at) * self.per_second)

    def take(self, amount: float, now: float) -> None:
        self.level, self.at = self.level_at(now) - amount, now

    def wait_seconds(self, amount: float, now: float) -> float:
        """Until ``amount`` is there; more than the whole limit waits for the whole limit."""
        lacking = min(amount, self.limit) - self.level_at(now)
        if lacking <= 0:
            return 0.0
        return lacking / self.per_second if self.per_second > 0 else 1.0


class Pace:
    """What is known of a provider's limits.

    Each limit that its headers tell of is a bucket; one that they do not tell of is no limit. A
    refusal blocks everybody for as long as the provider asks, and halves the calls in flight,
    which then grow again one by one: whoever waited does not trip the limit together.
    """

    def __init__(self) -> None:
        self._buckets: dict[str, _Bucket] = {}
        self._blocked_until = 0.0
        self._in_flight: dict[int, float] = {}
        self._number = 0
        self._cap: float | None = None

    def wait_seconds(self, tokens: int, now: float) -> float | None:
        """Until a call of so many tokens may go; 0: now; None: when another one has ended."""
        if self._cap is not None and len(self._in_flight) >= max(1, int(self._cap)):
            return None
        waits = [self._blocked_until - now, 0.0]
        waits += [b.wait_seconds(_amount(b, tokens), now) for b in self._buckets.values()]
        return max(waits)

    def sent(self, tokens: int, now: float) -> int:
        """A call goes; its number comes back."""
        for bucket in self._buckets.values():
            bucket.take(_amount(bucket, tokens), now)
        self._number += 1
        self._in_flight[self._number] = tokens
        return self._number

    def answered(self, number: int, windows: Iterable[Window], now: float) -> None:
        """A call's headers came: what went after it, the provider had not counted yet."""
        later = [amount for other, amount in self._in_flight.items() if other > number]
        for window in windows:
            counted = len(later) if window.counts == REQUESTS else sum(later)
            self._learn(window, window.remaining - counted, now)

    def _learn(self, window: Window, level: float, now: float) -> None:
        limit = max(window.limit or window.remaining, 1.0)
        lacking = limit - window.remaining
        per_second = lacking / window.reset_seconds if window.reset_seconds > 0 else limit
        known = self._buckets.get(window.name)
        if per_second <= 0:
            # It is whole: how fast it fills, an answer from before has told.
            per_second = known.per_second if known is not None else limit / 60
        self._buckets[window.name] = _Bucket(window.counts, level, limit, per_second, now)

    def refused(self, seconds: float, now: float) -> None:
        """The provider said that it is asked too fast."""
        self._blocked_until = max(self._blocked_until, now + seconds)
        half = len(self._in_flight) / 2
        self._cap = max(1.0, half if self._cap is None else min(self._cap, half))

    def ended(self, number: int, *, well: bool) -> None:
        """A call is over."""
        self._in_flight.pop(number, None)
        if well and self._cap is not None:
            self._cap += 1 / self._cap
            if self._cap > _NO_CAP:
                self._cap = None

    @property
    def in_flight(self) -> int:
        """Calls that are not over."""
        return len(self._in_flight)


def _amount(bucket: _Bucket, tokens: int) -> float:
    return 1.0 if bucket.counts == REQUESTS else float(tokens)
