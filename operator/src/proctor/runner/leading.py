"""Takes away symlinks that lead where a copied tree has no business. Standard library only.

A check that only reads a file of the agent's would otherwise read through it: the runner's own
orders, hidden files, or in ``/proc`` the check's own command line, which holds what it looks for.
"""

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from proctor.runner.folders import opened

_MAX_HOPS = 40  # the kernel's own


def remove_links_into(root: Path, places: Sequence[Path]) -> tuple[str, ...]:
    """Remove every symlink below ``root`` on whose way one of ``places`` lies.

    Whether the target exists does not matter. Folders behind symlinks are not entered.

    Returns:
        What was removed, as ``path: why``.
    """
    guarded = tuple(os.path.realpath(place) for place in places)
    with opened(root) as folder:
        return tuple(_clean(folder, os.path.realpath(root), "", guarded))


def _clean(folder: int, at: str, path: str, guarded: Sequence[str]) -> Iterator[str]:
    for name in os.listdir(folder):
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            with opened(name, folder) as inner:
                yield from _clean(inner, f"{at}/{name}", f"{path}{name}/", guarded)
        elif stat.S_ISLNK(mode):
            place = _leads_into(at, os.readlink(name, dir_fd=folder), guarded)
            if place is not None:
                os.unlink(name, dir_fd=folder)
                yield f"{path}{name}: a symlink into {place}"


def _leads_into(at: str, target: str, guarded: Sequence[str]) -> str | None:
    """The guarded place that the way from folder ``at`` along ``target`` enters, or None."""
    todo = target.split("/")[::-1]
    hops = 0
    if target.startswith("/"):
        at = ""
    while todo and hops <= _MAX_HOPS:
        part = todo.pop()
        if part == "..":
            at = at.rpartition("/")[0]
        elif part not in ("", "."):
            at = f"{at}/{part}"
        for place in guarded:
            if at == place or at.startswith(f"{place}/"):
                return place
        link = _read_link(at)
        if link is not None:
            hops += 1
            todo.extend(link.split("/")[::-1])
            at = "" if link.startswith("/") else at.rpartition("/")[0]
    return None


def _read_link(path: str) -> str | None:
    """Where a symlink leads; None for everything else, also what is missing or has no way to it."""
    try:
        return os.readlink(path)
    except OSError:
        return None
