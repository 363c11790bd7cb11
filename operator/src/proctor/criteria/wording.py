"""How explanations show values: short, on one line, with what was cut marked."""

import json
from typing import Any

from proctor.api.text import cut

SHOWN_CHARS = 120


def shortened(text: str, limit: int = SHOWN_CHARS) -> str:
    """``text`` on one line, at most ``limit`` characters, with … where it was cut.

    Blanks in a line stay as they are: they may be all that was wrong. What a terminal or a UTF-8
    encoder would choke on becomes U+FFFD: agents write these texts.
    """
    lines = (line.strip() for line in text.expandtabs(1).splitlines())
    line = " ".join(line for line in lines if line)
    return cut("".join(c if c.isprintable() else "\ufffd" for c in line), limit)


def shown(value: Any) -> str:
    """A JSON value as JSON text, shortened."""
    return shortened(json.dumps(value, ensure_ascii=False))


def last_line(data: bytes) -> str:
    """The last line that is not blank, shortened; empty when there is none."""
    lines = data.decode(errors="replace").split("\n")
    return next((shortened(line) for line in reversed(lines) if line.strip()), "")


def listed(names: list[str], limit: int = 3) -> str:
    """The first few names, and how many more there are."""
    more = len(names) - limit
    text = ", ".join(shortened(name) for name in names[:limit])
    return f"{text} and {more} more" if more > 0 else text
