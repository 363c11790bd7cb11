"""Values that are known for a while."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

_MOST_ENTRIES = 10_000


class Expiring(Generic[Key, Value]):
    """A bounded map whose entries end after a time.

    Args:
        seconds: How long an entry is known.
        clock: Seconds that only grow.
    """

    def __init__(self, seconds: float, clock: Callable[[], float]) -> None:
        self._seconds = seconds
        self._clock = clock
        self._entries: dict[Key, tuple[float, Value]] = {}

    def get(self, key: Key) -> Value | None:
        """The value, while it is known."""
        entry = self._entries.get(key)
        return entry[1] if entry is not None and self._clock() < entry[0] else None

    def put(self, key: Key, value: Value) -> None:
        """Know a value from now on."""
        if len(self._entries) >= _MOST_ENTRIES:
            now = self._clock()
            self._entries = {k: entry for k, entry in self._entries.items() if now < entry[0]}
        if len(self._entries) >= _MOST_ENTRIES:
            self._entries.pop(next(iter(self._entries)))
        self._entries[key] = (self._clock() + self._seconds, value)
