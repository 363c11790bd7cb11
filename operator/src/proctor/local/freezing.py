"""Sets aside what an agent left in its folders, before code of it runs again in the checks."""

import errno
from collections.abc import Sequence
from pathlib import Path

from proctor.local.files import remove_tree
from proctor.local.places import TrialPlaces
from proctor.runner.copying import copy_tree
from proctor.runner.kept import HANDED_OVER


def freeze(places: TrialPlaces, persisted: Sequence[Path] = ()) -> None:
    """Set aside what the agent left; the checks get copies in the same places.

    The same places, because virtual environments and scripts hold absolute paths. An agent that
    removed its workspace has left an empty one; what it laid into our places is not used.
    """
    renew(places.frozen)
    for folder in (places.workspace, places.home, *persisted):
        if folder.is_symlink() or not folder.is_dir():
            renew(folder)
        folder.rename(places.frozen / folder.name)
        folder.mkdir()
    for folder in (places.evidence("checks"), places.private):
        renew(folder)


def freeze_in_place(places: TrialPlaces) -> None:
    """Set a copy aside: the checks go on in what the agent left."""
    renew(places.frozen)
    for folder in (places.workspace, places.home):
        if folder.is_symlink() or not folder.is_dir():
            renew(folder)
    copy_tree(places.workspace, places.frozen / places.workspace.name)
    for folder in (places.evidence("checks"), places.private):
        renew(folder)


def freeze_handed_over(places: TrialPlaces, persisted: Sequence[Path] = ()) -> None:
    """What ``loop`` set aside before it handed over stays; otherwise nothing was checked yet."""
    if (places.frozen / HANDED_OVER).exists():
        renew(places.private)
    else:
        freeze(places, persisted)


def guard(places: TrialPlaces) -> None:
    """Before grading: what code of the agent, run by the checks, could have spoiled.

    Raises:
        OSError: When the frozen workspace is gone.
    """
    workspace = places.frozen / places.workspace.name
    if workspace.is_symlink() or not workspace.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "the frozen workspace was taken away")
    renew(places.private)
    remove_tree(places.record)


def renew(folder: Path) -> None:
    """Make a folder of nobody else, whatever is there."""
    remove_tree(folder)
    folder.mkdir(mode=0o700, parents=True)
