"""Breaks a scripted answer as a script wants it. Pure, standard library only."""

from collections.abc import Iterable, Iterator

CUTS_CONNECTION = "truncated"
"""After these bytes the connection is to end, so that no client takes them for a whole answer."""
_NOT_JSON = b"<html><body>upstream connect error</body></html>"


def malformed(kind: str, parts: Iterable[bytes], *, events: bool) -> Iterator[bytes]:
    """The bytes of an answer that is broken in one of the ways of ``MALFORMED``."""
    match kind:
        case "not-json":
            yield b"data: " + _NOT_JSON + b"\n\n" if events else _NOT_JSON
        case "truncated":
            whole = b"".join(parts)
            yield whole[: len(whole) // 2]
        case "unfinished":
            yield from _unfinished(list(parts))


def _unfinished(parts: list[bytes]) -> Iterator[bytes]:
    """Without the second half: of the pieces, or of the only one."""
    if len(parts) == 1:
        yield parts[0][: len(parts[0]) // 2]
        return
    yield from parts[: len(parts) // 2]
