"""Which recorded call answers a request. Holds how far each trial has come."""

from collections.abc import Iterable
from dataclasses import dataclass

from proctor.gateway.cassette import AskedCall, Cassette, RecordedCall
from proctor.gateway.cassette_difference import difference
from proctor.gateway.cassette_normal import NormalCall, normal
from proctor.gateway.seat import Role, Seat

_Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Miss:
    """No recorded call answers.

    Args:
        why: For the ledger; it holds parts of requests, so that no agent may see it.
    """

    why: str


@dataclass(frozen=True, slots=True)
class _Indexed:
    call: RecordedCall
    normal: NormalCall


class Tape:
    """A cassette while it is replayed.

    Repeated identical requests are answered in their recorded order, those of the same trial
    before others; when all are used, the last one answers again. Each attempt begins anew.
    """

    def __init__(self, cassette: Cassette) -> None:
        self._calls = [_Indexed(c, normal(c.asked)) for c in cassette.of_last_attempts().calls]
        self._by_key: dict[tuple[Role, str], list[RecordedCall]] = {}
        for one in self._calls:
            self._by_key.setdefault((one.call.role, one.normal.key), []).append(one.call)
        self._used: dict[_Key, int] = {}
        self._models = cassette.models()

    @property
    def models(self) -> tuple[str, ...]:
        """Models that were asked."""
        return self._models

    def find(self, seat: Seat, asked: AskedCall) -> RecordedCall | Miss:
        """The call that answers next."""
        wanted = normal(asked)
        recorded = self._by_key.get((seat.role, wanted.key))
        if recorded is None:
            return Miss(self._nearest(seat, wanted))
        own = [call for call in recorded if seat.trial and call.trial == seat.trial]
        if own:
            mine = (seat.trial_uid, seat.attempt, seat.role, wanted.key)
            return own[_next(self._used, mine, len(own))]
        return recorded[_next(self._used, (seat.role, wanted.key), len(recorded))]

    def _nearest(self, seat: Seat, wanted: NormalCall) -> str:
        same_role = [one for one in self._calls if one.call.role == seat.role]
        if not same_role:
            return f"the cassette has no call of a {seat.role} ({len(self._calls)} calls in all)"
        best = max(same_role, key=lambda one: _nearness(one, wanted, seat.trial))
        return (
            f"nearest is call {best.call.number} (trial {best.call.trial or 'unknown'}): "
            + difference(best.normal, wanted)
        )


def _nearness(one: _Indexed, wanted: NormalCall, label: str) -> tuple[int, ...]:
    head, asked = one.normal.value, wanted.value
    return (
        int(head["operation"] == asked["operation"]),
        int(head["format"] == asked["format"]),
        int(head.get("model") == asked.get("model")),
        _equal(one.normal.parts[1:], wanted.parts[1:]),
        int(one.call.trial == label),
        int(one.normal.parts[0] == wanted.parts[0]),
        -abs(len(one.normal.parts) - len(wanted.parts)),
        -one.call.number,
    )


def _equal(first: Iterable[str], second: Iterable[str]) -> int:
    """How many messages are equal from the beginning."""
    number = 0
    for one, other in zip(first, second, strict=False):
        if one != other:
            break
        number += 1
    return number


def _next(counters: dict[_Key, int], key: _Key, length: int) -> int:
    """The first that is not used yet, else the last."""
    index = counters.get(key, 0)
    counters[key] = index + 1
    return min(index, length - 1)
