"""Reads a stream of JSON objects while it passes by. Pure, standard library only."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Protocol

from proctor.wire.fields import json_object
from proctor.wire.format import Reading


class Cutter(Protocol):
    """Cuts bytes into JSON texts, whatever the chunks."""

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Give those that ended in ``chunk``."""


class Tally(Protocol):
    """Adds up what the objects of one API's stream say."""

    characters: int
    """Of text, thoughts and arguments of tools, so far."""

    @property
    def is_over(self) -> bool:
        """Whether the last object was read."""

    def is_plain(self, data: str) -> bool:
        """Whether a JSON text says a piece of an answer and nothing else, as far as one sees."""

    def add(self, item: Mapping[str, Any]) -> None:
        """Take the next object."""

    def reading(self) -> Reading:
        """What was read so far."""


_LEARNED_FROM = 4


class StreamMeter:
    """A ``Meter`` made of how an API cuts its stream and of what it says in it.

    Reading JSON is most of a meter's cost, and most objects of a stream say a few characters of
    text. The first of them are read; from the others only their length is taken, less what is
    around the text.
    """

    def __init__(self, cutter: Cutter, tally: Tally) -> None:
        self._cutter = cutter
        self._tally = tally
        self._learned = 0
        self._around = 0
        self._plain = 0
        self._plain_characters = 0

    @property
    def is_over(self) -> bool:
        """Whether a client can know by now that the stream is over."""
        return self._tally.is_over

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        for data in self._cutter.feed(chunk):
            if self._learned >= _LEARNED_FROM and self._tally.is_plain(data):
                self._plain += 1
                self._plain_characters += len(data)
            elif (item := json_object(data)) is not None:
                self._add(data, item)

    def _add(self, data: str, item: Mapping[str, Any]) -> None:
        before = self._tally.characters
        self._tally.add(item)
        if self._learned < _LEARNED_FROM and self._tally.is_plain(data):
            around = len(data) - (self._tally.characters - before)
            self._around = min(self._around, around) if self._learned else around
            self._learned += 1

    def reading(self) -> Reading:
        """What was read so far."""
        reading = self._tally.reading()
        if not self._plain:
            return reading
        said = max(0, self._plain_characters - self._plain * self._around)
        return replace(reading, characters=reading.characters + said)
