"""Cuts a JSON array of objects, or one object, into its objects as they come. Pure."""

import re
from collections.abc import Iterator

from proctor.wire.fields import MAX_BODY_BYTES

_OUTSIDE = re.compile(rb'["{}\]]')
_INSIDE = re.compile(rb'["\\]')


class JsonItems:
    """Gives the outermost objects of a byte stream; any chunking; larger ones are skipped.

    Gemini streams such an array when it is not asked for events.
    """

    def __init__(self, limit_bytes: int = MAX_BODY_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._buffer = bytearray()
        self._at = 0
        self._depth = 0
        self._in_text = False
        self._skipping = False
        self.is_over = False
        """Whether the array has ended."""

    def feed(self, chunk: bytes) -> Iterator[str]:
        """Give the objects that ended in ``chunk``."""
        self._buffer += chunk
        while (found := self._next_mark()) is not None:
            if self._in_text:
                self._in_text = found != 0x22
            elif (item := self._outside(found)) is not None:
                yield item
        self._forget()

    def _next_mark(self) -> int | None:
        """Move behind the next byte that means something; None: there is none yet."""
        pattern = _INSIDE if self._in_text else _OUTSIDE
        match = pattern.search(self._buffer, self._at)
        if match is None:
            self._at = len(self._buffer)
            return None
        mark = self._buffer[match.start()]
        if mark != 0x5C:
            self._at = match.end()
            return mark
        if match.end() == len(self._buffer):
            self._at = match.start()  # what it escapes is still to come
            return None
        self._at = match.end() + 1
        return mark

    def _outside(self, mark: int) -> str | None:
        match mark:
            case 0x22:
                self._in_text = True
            case 0x7B:
                if self._depth == 0:
                    del self._buffer[: self._at - 1]
                    self._at = 1
                self._depth += 1
            case 0x7D:
                self._depth = max(0, self._depth - 1)
                return self._item() if self._depth == 0 else None
            case _:
                self.is_over = self.is_over or self._depth == 0
        return None

    def _item(self) -> str | None:
        data = bytes(self._buffer[: self._at])
        del self._buffer[: self._at]
        self._at = 0
        skipped, self._skipping = self._skipping, False
        return None if skipped else data.decode("utf-8", "replace")

    def _forget(self) -> None:
        if len(self._buffer) > self._limit_bytes:
            self._skipping = True
        if self._skipping or self._depth == 0:
            del self._buffer[: self._at]
            self._at = 0
