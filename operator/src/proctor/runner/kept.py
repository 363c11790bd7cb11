"""The folder of ``loop``: what it set aside, and the mark that it handed something over."""

from pathlib import Path

HANDED_OVER = "handed-over"
WORKSPACE = "workspace"


def frozen_workspace(kept: Path | None, otherwise: Path) -> Path:
    """The workspace that ``loop`` set aside before hidden files went to ``agent``.

    Without a hand-over nothing hidden went there, and the agent's own is what it left.
    """
    if kept is not None and (kept / HANDED_OVER).exists():
        return kept / WORKSPACE
    return otherwise
