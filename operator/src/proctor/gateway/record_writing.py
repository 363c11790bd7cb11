"""Recorded calls → the text of a cassette, each with the earlier one that it builds on. Pure."""

import hashlib
import json
from collections import OrderedDict
from collections.abc import Iterable

from proctor.gateway.cassette import Cassette, RecordedCall
from proctor.gateway.cassette_text import call_text, continues, head_text

_REMEMBERED = 512
"""How many conversations are looked at; an older one is written in full when it goes on."""


class CallWriter:
    """Writes calls one after another, and remembers what later ones may refer to."""

    def __init__(self) -> None:
        self._open: OrderedDict[int, RecordedCall] = OrderedDict()
        self._heads: OrderedDict[str, RecordedCall] = OrderedDict()

    def text(self, call: RecordedCall) -> str:
        """The document of the next call."""
        text = call_text(call, self._base(call))
        self.remember(call)
        return text

    def remember(self, call: RecordedCall) -> None:
        """Take a call that is written already."""
        before = self._continued(call)
        if before is not None:
            del self._open[before.number]
        self._open[call.number] = call
        self._heads.setdefault(_head(call), call)
        for known in (self._open, self._heads):
            while len(known) > _REMEMBERED:
                known.popitem(last=False)

    def _base(self, call: RecordedCall) -> RecordedCall | None:
        return self._continued(call) or self._heads.get(_head(call))

    def _continued(self, call: RecordedCall) -> RecordedCall | None:
        """The longest conversation of the same trial that the call goes on with."""
        found = [
            one
            for one in self._open.values()
            if (one.trial, one.role) == (call.trial, call.role) and continues(call.asked, one.asked)
        ]
        return max(found, key=lambda one: len(one.asked.messages), default=None)


def cassette_text(cassette: Cassette, recording: str) -> str:
    """The whole text."""
    writer = CallWriter()
    return head_text(recording) + "".join(writer.text(call) for call in cassette.calls)


def arranged(cassette: Cassette) -> Cassette:
    """Calls by trial, whichever ended first, and numbered so; attempts that were lost are left out.

    So the same run, recorded again, gives a text that can be compared.
    """
    kept = sorted(
        cassette.of_last_attempts().calls, key=lambda call: (call.trial, call.role, call.number)
    )
    return Cassette(tuple(_renumbered(kept)))


def _renumbered(calls: Iterable[RecordedCall]) -> Iterable[RecordedCall]:
    for number, call in enumerate(calls, start=1):
        yield RecordedCall(number, call.trial, call.role, call.attempt, call.asked, call.answered)


def _head(call: RecordedCall) -> str:
    asked = call.asked
    about = [asked.wire_format, asked.operation, asked.list_name, asked.head]
    return hashlib.sha256(json.dumps(about, sort_keys=True).encode()).hexdigest()
