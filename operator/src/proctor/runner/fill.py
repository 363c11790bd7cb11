"""The phase ``fill``: copies a folder of the task's image into the workspace that will cover it.

It runs in the task's image but starts nothing of it. What it cannot read is an error: a workspace
that lacks a file would be graded as the agent's work.
"""

import os
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.runner.copying import copy_tree
from proctor.runner.folders import require_unused, write_new
from proctor.runner.places import FillPlaces
from proctor.runner.stopping import exit_on_signals

FILLED = ".proctor-filled"
"""In a workspace that nobody has used yet."""


class ImageFolderError(PlatformError):
    """The image's folder cannot be copied as a whole; the message says why, and the remedy."""


def run_fill(places: FillPlaces) -> None:
    """Copy the folder; special files are left out and named.

    Raises:
        ImageFolderError: When the folder is missing, or not all of it can be read.
        PlatformError: When the workspace is used already.
        OSError: When it cannot take the folder (no space left).
    """
    exit_on_signals()
    require_unused(places.target)
    source = Path(os.path.realpath(places.source))
    if not source.is_dir():
        raise ImageFolderError(f"the image has no folder {places.source}")
    skipped = copy_tree(source, places.target)
    unreadable = [one for one in skipped if not one.endswith(": not a regular file")]
    if unreadable:
        raise ImageFolderError(
            f"{len(unreadable)} entries of {places.source} cannot be copied, such as "
            f"{unreadable[0]}: make the folder readable for everybody, or set sandbox.user: Image"
        )
    for one in skipped:
        print(f"left out {one}", flush=True)
    write_new(places.target, FILLED, b"")


def require_filled(workspace: Path) -> None:
    """Take the mark off a workspace that ``fill`` has made.

    Raises:
        PlatformError: When it has none: a second start in the same pod.
    """
    try:
        os.unlink(workspace / FILLED)
    except FileNotFoundError:
        raise PlatformError(f"{workspace} is used already: it has no {FILLED}") from None
