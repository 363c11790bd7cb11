"""Server-sent events, read incrementally and written. Pure, standard library only."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from proctor.wire.fields import write_json

MAX_EVENT_BYTES = 8 * 1024 * 1024
"""A larger event is skipped: it is no usage figure, and memory stays bounded."""

_NAME = re.compile(rb"(?:event: [^\n]*)?")


class EventParser:
    """Cuts a byte stream into the data of its events; any chunking, all three line ends."""

    def __init__(self) -> None:
        self._rest: list[bytes] = []
        self._rest_size = 0
        self._after_return = False
        self._data: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Give the data of each event that ended in ``chunk``; events without data are none."""
        is_clean = not (self._rest or self._data or self._skipping or self._after_return)
        is_usual = chunk.endswith(b"\n\n") and b"\r" not in chunk and b"\n\n\n" not in chunk
        if is_clean and is_usual:
            for event in chunk[:-2].split(b"\n\n"):
                yield from self._whole_event(event)
            return
        if self._after_return and chunk:
            # The carriage return before it was the first half of this CRLF.
            chunk, self._after_return = chunk.removeprefix(b"\n"), False
        self._after_return = self._after_return or chunk.endswith(b"\r")
        text = chunk.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        while b"\n\n\n" in text:  # a flood of empty lines is no more than one
            text = text.replace(b"\n\n\n", b"\n\n")
        lines = text.split(b"\n")
        last = lines.pop()
        for line in lines:
            yield from self._line(self._whole(line))
        self._keep(last)

    def _whole_event(self, event: bytes) -> Iterator[str]:
        """The data of an event that came in one piece: one line after its name, nearly always."""
        name, _, last = event.rpartition(b"\n")
        if last.startswith(b"data: ") and _NAME.fullmatch(name):
            yield last[6:].decode("utf-8", errors="replace")
            return
        for line in event.split(b"\n"):
            yield from self._line(line)
        yield from self._line(b"")

    def _whole(self, line: bytes) -> bytes:
        """A line with what came of it in earlier chunks."""
        if self._rest:
            line = b"".join([*self._rest, line])
            self._rest, self._rest_size = [], 0
        return line

    def _keep(self, part: bytes) -> None:
        """Keep the beginning of a line, without copying what is kept already."""
        if not part:
            return
        self._rest.append(part)
        self._rest_size += len(part)
        if self._rest_size > MAX_EVENT_BYTES:
            self._rest, self._rest_size, self._skipping = [], 0, True

    def _line(self, line: bytes) -> Iterator[str]:
        if line:
            self._field(line)
            return
        data, skip = b"\n".join(self._data), self._skipping
        empty = not self._data
        self._data, self._size, self._skipping = [], 0, False
        if not skip and not empty:
            yield data.decode("utf-8", errors="replace")

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name != b"data" or self._skipping:
            return
        self._size += len(value)
        if self._size > MAX_EVENT_BYTES:
            self._data, self._skipping = [], True
            return
        self._data.append(value.removeprefix(b" "))


_EVENT_END = re.compile(rb"\n\n|\r\r|\r\n\r\n")


def event_ends(data: bytes, start: int = 0) -> list[int]:
    """Positions right after each event that is complete from ``start`` on."""
    return [match.end() for match in _EVENT_END.finditer(data, start)]


def event(data: Mapping[str, Any], name: str | None = None) -> bytes:
    """Write one event, named or not."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + write_json(data) + b"\n\n"
