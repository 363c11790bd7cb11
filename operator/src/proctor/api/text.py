"""Texts of bounded length. Standard library only."""


def cut(text: str, length: int) -> str:
    """The text, at most ``length`` characters; where it was longer the last one is ``…``."""
    return text if len(text) <= length else text[: length - 1] + "…"
