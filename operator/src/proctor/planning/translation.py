"""Carrying fields of a foreign document over to ours, without losing where they were written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.api.errors import Problem
from proctor.planning.places import Place, SourceMap

REMEDY = "remove it, or write the task in an EvalRun"


def is_off(value: Any) -> bool:
    """Whether a field says nothing: null, false, empty, or ``enabled: false``."""
    if isinstance(value, dict) and value.get("enabled") is False:
        return True
    return value is None or value is False or value in ([], {}, "")


@dataclass(slots=True)
class Translation:
    """What one foreign document becomes, and what could not be carried over.

    Args:
        source: Places of the foreign document's own fields.
        places: Places of our fields, by our path below the task.
    """

    source: SourceMap
    places: dict[str, Place] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def refuse(self, theirs: str, message: str, remedy: str = REMEDY) -> None:
        """Add a problem with a field of the foreign document."""
        self.problems.append(Problem(theirs, message, remedy))

    def warn(self, theirs: str, message: str) -> None:
        """Add a warning about a field of the foreign document."""
        self.warnings.append(Problem(theirs, message))

    def unsupported(self, theirs: str, value: Any) -> None:
        """Refuse a field by name, unless it says nothing."""
        if not is_off(value):
            name = theirs.rpartition(".")[2]
            self.refuse(theirs, f"{name} is not supported in a Coder Eval task")

    def came_from(self, ours: str, theirs: str) -> None:
        """Remember that our field ``ours`` was written as ``theirs``."""
        place = self.source.place(theirs)
        self.places[ours] = Place(place.file, place.line, theirs)

    def mapping(self, value: Any, theirs: str) -> Mapping[str, Any]:
        """The value if it is an object; an empty one, and a problem, if it is not."""
        if isinstance(value, dict):
            return value
        if value is not None:
            self.refuse(theirs, "is not an object", "write key: value")
        return {}

    def sequence(self, value: Any, theirs: str) -> list[Any]:
        """The value if it is a list; an empty one, and a problem, if it is not."""
        if isinstance(value, list):
            return value
        if value is not None:
            self.refuse(theirs, "is not a list", "write a list")
        return []

    def renamed(
        self, written: Mapping[str, Any], names: Mapping[str, str], theirs: str, ours: str
    ) -> dict[str, Any]:
        """Carry the fields in ``names`` over; every other one is refused unless it says nothing."""
        carried: dict[str, Any] = {}
        for key, value in written.items():
            path = f"{theirs}.{key}" if theirs else key
            if key not in names:
                self.unsupported(path, value)
            elif value is not None:
                carried[names[key]] = value
                self.came_from(f"{ours}.{names[key]}" if ours else names[key], path)
        return carried
