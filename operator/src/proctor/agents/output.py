"""Bounded text from what a process prints."""

import codecs


class Capture:
    """Keeps the first and the last half of ``limit_bytes``, and counts what fell out between."""

    def __init__(self, limit_bytes: int) -> None:
        self._half = limit_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._left_out_bytes = 0

    def feed(self, data: bytes) -> None:
        """Take what came."""
        room = self._half - len(self._head)
        self._head += data[: max(room, 0)]
        self._tail += data[max(room, 0) :]
        surplus = len(self._tail) - self._half
        if surplus > 0:
            del self._tail[:surplus]
            self._left_out_bytes += surplus

    def text(self) -> str:
        """All that was kept, with a note where something is missing."""
        if not self._left_out_bytes:
            return (self._head + self._tail).decode(errors="replace")
        note = f"\n[… {self._left_out_bytes} bytes left out …]\n"
        return self._head.decode(errors="replace") + note + self._tail.decode(errors="replace")


class LiveText:
    """Turns chunks of bytes into text to pass on, up to ``limit_bytes``; then it falls silent."""

    def __init__(self, limit_bytes: int) -> None:
        self._room = limit_bytes
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._is_cut = False

    def feed(self, data: bytes) -> str:
        """Text of ``data``; may be empty inside a character and beyond the limit."""
        if self._is_cut:
            return ""
        text = self._decode(data[: self._room])
        self._room -= len(data)
        if self._room >= 0:
            return text
        self._is_cut = True
        return f"{text}\n[… the rest is left out …]\n"
