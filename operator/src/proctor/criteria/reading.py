"""Finds the one file that a criterion reads, or says why there is not exactly one."""

from dataclasses import dataclass

from proctor.api.evidence import Evidence
from proctor.api.verdict import Scored
from proctor.criteria.wording import listed, shortened

GLOB_CHARACTERS = "*?["


@dataclass(frozen=True, slots=True)
class Found:
    """The file. ``path`` is its own, also where a glob was asked for."""

    path: str
    data: bytes

    @property
    def name(self) -> str:
        """The path as explanations show it."""
        return shortened(self.path)

    @property
    def text(self) -> str:
        """Its content as UTF-8; bytes that are none become U+FFFD."""
        return self.data.decode("utf-8", errors="replace")


def is_glob(path: str) -> bool:
    """Whether a path may match several files."""
    return any(character in path for character in GLOB_CHARACTERS)


def read_one(evidence: Evidence, path: str) -> Found | Scored:
    """The one file of the frozen workspace that ``path`` names.

    Returns:
        ``Scored`` 0 with the reason when no file or more than one matches.
    """
    matches = evidence.files(path)
    if len(matches) == 1:
        ((name, data),) = matches.items()
        return Found(name, data)
    if matches:
        names = listed(sorted(matches))
        return Scored(0.0, f"{shortened(path)} matches {len(matches)} files, expected one: {names}")
    return Scored(0.0, missing(evidence, path))


def missing(evidence: Evidence, path: str) -> str:
    """Why there is no file at ``path``."""
    if evidence.is_directory(path):
        return f"{shortened(path)} is a folder, not a file"
    if is_glob(path):
        return f"no file matches {shortened(path)}"
    return f"{shortened(path)} does not exist"
