"""Where a repository comes from and goes to; apart from ``places``, which every phase imports."""

from dataclasses import dataclass
from pathlib import Path

from proctor.runner.places import EgressAccess


@dataclass(frozen=True, slots=True)
class GitSource:
    """One commit of a repository.

    Args:
        commit: Its full id.
        path: The only folder of it that is laid down; None: all of it, as a repository.
    """

    url: str
    commit: str
    path: str | None = None


@dataclass(frozen=True, slots=True)
class FetchPlaces:
    """For ``fetch``, and for ``stage`` when it fetches.

    Args:
        target: Emptied first; ``tree`` and ``notes.json`` are made in it.
        libraries: Folder with what only the fetching imports; None: it is installed.
        egress: None: the network is reached directly.
    """

    source: GitSource
    target: Path
    libraries: Path | None = None
    egress: EgressAccess | None = None
