"""What lies in the folder of a fetched repository. Standard library only."""

import json
from collections.abc import Sequence
from pathlib import Path

TREE = "tree"
"""Folder with what the workspace begins with."""

_NOTES = "notes.json"


def write_notes(folder: Path, notes: Sequence[str]) -> None:
    """Keep what a reader of the record should know of the repository."""
    (folder / _NOTES).write_text(json.dumps(list(notes)))


def read_notes(folder: Path | None) -> tuple[str, ...]:
    """What ``write_notes`` kept; nothing without a repository.

    Raises:
        OSError: There are none.
        ValueError: They are not readable.
    """
    if folder is None:
        return ()
    return tuple(str(note) for note in json.loads((folder / _NOTES).read_text()))
