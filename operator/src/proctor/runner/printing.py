"""Text that hostile code had a hand in, made fit for lines, JSON and a verdict of bounded size."""

from proctor.api.text import cut


def printable(text: str, limit: int = 2000) -> str:
    """Replace what no UTF-8 text holds and what moves a terminal's cursor, then cut.

    Newlines and tabs become spaces; other control characters and lone surrogates become ``?``.
    """
    return "".join(_visible(char) for char in cut(text, limit))


def _visible(char: str) -> str:
    if char in "\n\r\t":
        return " "
    return char if char.isprintable() else "?"
