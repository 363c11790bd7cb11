"""Answers that a provider compressed although it was asked not to, made readable. Bounded."""

import zlib
from collections.abc import AsyncIterator

MOST_DECODED_BYTES = 256 * 1024 * 1024
"""Of one answer; what comes after is not looked at: a few bytes may stand for very many."""

_MOST_AT_ONCE = 1024 * 1024
_ANY_ZLIB = 47  # gzip or zlib, by what it begins with


class Decoder:
    """Decodes gzip and deflate, any chunking, a piece at a time; never raises.

    Args:
        encoding: The header ``content-encoding``; one that is not known gives nothing.
    """

    def __init__(self, encoding: str) -> None:
        name = encoding.strip().lower()
        self._plain = name in ("", "identity")
        known = name in ("gzip", "x-gzip", "deflate")
        self._zlib = zlib.decompressobj(_ANY_ZLIB) if known else None
        self._bytes = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """What can be read by now, in pieces of at most 1 MiB."""
        if self._plain:
            return [chunk]
        pieces: list[bytes] = []
        while self._zlib is not None and chunk:
            try:
                piece = self._zlib.decompress(chunk, _MOST_AT_ONCE)
            except zlib.error:
                self._zlib = None
                break
            chunk = self._zlib.unconsumed_tail
            self._bytes += len(piece)
            if self._bytes > MOST_DECODED_BYTES:
                self._zlib = None
            elif piece:
                pieces.append(piece)
        return pieces


async def decoded(chunks: AsyncIterator[bytes], encoding: str) -> AsyncIterator[bytes]:
    """Chunks made readable."""
    decoder = Decoder(encoding)
    async for chunk in chunks:
        for piece in decoder.feed(chunk):
            yield piece
