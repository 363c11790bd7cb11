"""Glob patterns over paths of a tree: ``*`` and ``?`` stop at ``/``, ``**`` takes folders."""

import re
from dataclasses import dataclass

_MAGIC = re.compile(r"[*?\[]")
ANY_DEPTH = 1_000_000


@dataclass(frozen=True, slots=True)
class Glob:
    """A pattern and where it can match.

    Args:
        prefix: Folders that every match is below, as segments without wildcards.
        depth: Most segments that a match has.
    """

    pattern: re.Pattern[str]
    prefix: tuple[str, ...]
    depth: int

    def matches(self, path: str) -> bool:
        """Whether the whole path matches; names with newlines too."""
        return self.pattern.fullmatch(path) is not None


def is_literal(glob: str) -> bool:
    """Whether it has no wildcard."""
    return _MAGIC.search(glob) is None


def parse_glob(glob: str) -> Glob:
    """Read a pattern relative to the tree's root; names that begin with a dot match as well."""
    segments = [segment for segment in glob.split("/") if segment not in ("", ".")]
    prefix: list[str] = []
    for segment in segments[:-1]:
        if not is_literal(segment):
            break
        prefix.append(segment)
    depth = ANY_DEPTH if "**" in segments else len(segments)
    return Glob(re.compile(_regex(segments), re.DOTALL), tuple(prefix), depth)


def _regex(segments: list[str]) -> str:
    parts: list[str] = []
    for position, segment in enumerate(segments):
        is_last = position == len(segments) - 1
        if segment == "**":
            parts.append(".*" if is_last else "(?:[^/]+/)*")
        else:
            parts.append(_segment(segment) + ("" if is_last else "/"))
    return "".join(parts)


def _segment(segment: str) -> str:
    """One segment as a regular expression; an unclosed bracket is a plain character."""
    out: list[str] = []
    at = 0
    while at < len(segment):
        char = segment[at]
        end = segment.find("]", at + 2) if char == "[" else -1
        if char == "*":
            out.append("[^/]*")
        elif char == "?":
            out.append("[^/]")
        elif end > 0:
            out.append(_bracket(segment[at + 1 : end]))
            at = end
        else:
            out.append(re.escape(char))
        at += 1
    return re.sub(r"(?:\[\^/\]\*)+", "[^/]*", "".join(out))


def _bracket(body: str) -> str:
    negated = body[0] in "!^"
    ranges = body[1:] if negated else body
    escaped = re.sub(r"([\\\]\[&~|^])", r"\\\1", ranges)
    return f"(?!/)[{'^' if negated else ''}{escaped}]"
