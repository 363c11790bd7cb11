"""The error tree.

::

    ProctorError
    ├── UserError            the user's: a bad spec, file or flag; carries ``problems``
    │   └── SpecError        one or more fields of a manifest or task file are wrong
    └── PlatformError        ours: the cluster, the gateway or a file system failed us

What the *agent* did wrong is never an exception: it is a verdict (``api.verdict``).
"""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong with what a user wrote.

    Args:
        field: Path in the document, such as ``spec.tasks[2].criteria[0].pattern``.
        message: Names the value and what is wrong with it.
        remedy: What to write instead.
        file: The file, or None when it did not come from one.
        line: 1-based line in that file, or None when unknown.
    """

    field: str
    message: str
    remedy: str = ""
    file: str | None = None
    line: int | None = None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        text = f"{place}: " if place else ""
        text += f"{self.field}: {self.message}"
        return f"{text} ({self.remedy})" if self.remedy else text


class ProctorError(Exception):
    """Anything that Proctor raises on purpose."""


class UserError(ProctorError):
    """What the user wrote cannot be used."""


class SpecError(UserError):
    """One or more problems in manifests or task files, all of them at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))


class PlatformError(ProctorError):
    """Something of ours failed; never an agent's zero."""
