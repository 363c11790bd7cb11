"""The files beside a task file: a port, so that planning itself reads nothing."""

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class FolderFile:
    """One regular file below a folder; ``path`` is relative to that folder."""

    path: str
    data: bytes
    executable: bool = False


Keep = Callable[[str], bool]
"""Whether a file is wanted, by its path in the folder; others are not even read."""


class Folder(Protocol):
    """The folder that a task file is in. Paths are relative to it, or absolute."""

    def read(self, path: str) -> bytes:
        """Content of a file.

        Raises:
            OSError: When there is no such file, or it cannot be read.
        """

    def files(self, path: str, keep: Keep) -> Sequence[FolderFile]:
        """The regular files below a folder that ``keep`` wants, at any depth, sorted by path.

        Raises:
            OSError: When there is no such folder, it cannot be read, or it holds far too much.
        """


IGNORED = frozenset(
    {
        ".venv",
        "venv",
        "ENV",
        "env",
        "virtualenv",
        ".git",
        ".svn",
        ".hg",
        "__pycache__",
        "*.pyc",
        "*.pyo",
        "*.pyd",
        ".pytest_cache",
        ".ruff_cache",
        "*.egg-info",
        ".eggs",
        "dist",
        "build",
        ".vscode",
        ".idea",
        "*.swp",
        "*.swo",
        "*~",
        ".DS_Store",
        "Thumbs.db",
        "node_modules",
        ".npm",
        "bower_components",
        ".coverage",
        "htmlcov",
        ".tox",
        ".nox",
        "*.so",
        "*.dylib",
        "*.dll",
        "cli_mocks",
    }
)
"""What Coder Eval leaves out of a template unless it is told otherwise (0.12.16)."""


def ignored_patterns(changes: Sequence[str]) -> frozenset[str]:
    """The default patterns and ``changes``: a pattern adds, ``!pattern`` takes a default away."""
    added = {change.strip() for change in changes if not change.startswith("!")}
    removed = {change[1:].strip() for change in changes if change.startswith("!")}
    return (IGNORED - removed) | added


def is_copied(path: str, ignored: frozenset[str], included: Sequence[str]) -> bool:
    """Whether a template's file is laid into the workspace."""
    if any(fnmatchcase(path, pattern.removeprefix("./")) for pattern in included):
        return True
    parts = PurePosixPath(path).parts
    return not any(fnmatchcase(part, pattern) for part in parts for pattern in ignored)


def workspace_file(path: str, file: FolderFile) -> dict[str, Any]:
    """A file as an EvalRun writes it: text where it is text."""
    executable = {"executable": True} if file.executable else {}
    try:
        return {"path": path, "content": file.data.decode("utf-8"), **executable}
    except UnicodeDecodeError:
        return {
            "path": path,
            "contentBase64": base64.b64encode(file.data).decode(),
            **executable,
        }
