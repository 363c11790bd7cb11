"""A pack that a stranger made: measured before anything of it is unpacked, then opened by id.

Each object is found by the hash of its content, so what the commit's id leads to is what it names.
"""

import mmap
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

from dulwich.errors import ApplyDeltaError, ChecksumMismatch, ObjectFormatException
from dulwich.object_format import SHA1
from dulwich.pack import Pack, PackData, UnresolvedDeltas

from proctor.runner.git_errors import HASH_BYTES, REMEDY, GitRefusedError, GitUnreachableError

MOST_OBJECTS = 200_000
MOST_OBJECT_BYTES = 64 << 20
"""An object is in memory as a whole, and so is what it is a difference to."""

_HEADER_BYTES = 12
_OFS_DELTA, _REF_DELTA = 6, 7
_CHUNK = 1 << 20

BROKEN = (
    ApplyDeltaError, AssertionError, ChecksumMismatch, LookupError, ObjectFormatException,
    OverflowError, UnresolvedDeltas, ValueError, zlib.error,
)  # fmt: skip
"""What dulwich raises over a pack that is wrong."""


def open_pack(path: Path) -> Pack:
    """Measure a pack, write its index beside it, and open it; ``path`` ends in ``.pack``.

    Raises:
        GitRefusedError: It holds too much.
        GitUnreachableError: It is broken: it was cut off on its way.
    """
    try:
        _measure(path)
        base = str(path.with_suffix(""))
        with PackData(f"{base}.pack", object_format=SHA1) as data:
            data.check()
            data.create_index_v2(f"{base}.idx")
        return Pack(base, object_format=SHA1)
    except BROKEN as error:
        raise GitUnreachableError(f"the pack that the server sent is broken: {error}") from error


def _measure(path: Path) -> None:
    """Look at every object without keeping it: a few bytes may unpack to terabytes."""
    if path.stat().st_size < _HEADER_BYTES + HASH_BYTES:
        raise ValueError("it is too short")
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        with mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ) as data:
            count = int.from_bytes(data[8:12], "big")
            if count > MOST_OBJECTS:
                raise GitRefusedError(
                    f"the commit has {count} objects, at most {MOST_OBJECTS} are taken: {REMEDY}"
                )
            for size in _sizes(data, count):
                if size > MOST_OBJECT_BYTES:
                    raise GitRefusedError(
                        f"the commit has a file of {size} bytes, at most "
                        f"{MOST_OBJECT_BYTES >> 20} MiB are taken: {REMEDY}"
                    )
    finally:
        os.close(descriptor)


def _sizes(data: mmap.mmap, count: int) -> Iterator[int]:
    """Bytes of each object, once unpacked; of a difference also those of what it makes."""
    at = _HEADER_BYTES
    for _ in range(count):
        kind, size = (data[at] >> 4) & 7, data[at] & 15
        shift = 4
        while data[at] & 0x80:
            at += 1
            size |= (data[at] & 0x7F) << shift
            shift += 7
        at += 1
        yield size
        if kind == _OFS_DELTA:
            while data[at] & 0x80:
                at += 1
            at += 1
        elif kind == _REF_DELTA:
            at += HASH_BYTES
        first, at = _skip(data, at, size)
        if kind in (_OFS_DELTA, _REF_DELTA):
            yield _made_by(first)


def _skip(data: mmap.mmap, at: int, size: int) -> tuple[bytes, int]:
    """The first bytes of a stream, and where it ends; it may not be longer than it says."""
    stream = zlib.decompressobj()
    first, length, pending = b"", 0, b""
    while not stream.eof:
        if not pending:
            pending = data[at : at + _CHUNK]
            at += len(pending)
            if not pending:
                raise ValueError("it is cut off")
        piece = stream.decompress(pending, _CHUNK)
        first = first or piece[:32]
        length += len(piece)
        if length > size:
            raise ValueError("an object is longer than it says")
        pending = stream.unconsumed_tail
    return first, at - len(stream.unused_data)


def _made_by(delta: bytes) -> int:
    """Bytes of what a difference makes: the second number in it."""
    found, at = 0, 0
    for _ in range(2):
        found, shift = 0, 0
        while True:
            byte = delta[at] if at < len(delta) else 0
            at += 1
            found |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                break
    return found
