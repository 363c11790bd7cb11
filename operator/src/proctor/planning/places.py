"""Where a field was written: file, line, and its own name there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from proctor.api.errors import Problem


@dataclass(frozen=True, slots=True)
class Place:
    """Where one field stands.

    Args:
        field: Its path in that file, when it is called otherwise there (a Coder Eval task file).
    """

    file: str | None
    line: int | None
    field: str | None = None


@dataclass(frozen=True, slots=True)
class SourceMap:
    """Places by field path, such as ``spec.tasks[2].criteria[0].pattern``."""

    places: Mapping[str, Place] = field(default_factory=dict)

    def locate(self, problem: Problem) -> Problem:
        """The problem with the place of its field, or of the nearest one around it."""
        for prefix in prefixes(problem.field):
            place = self.places.get(prefix)
            if place is not None:
                return _placed(problem, place, problem.field[len(prefix) :])
        return problem

    def place(self, path: str) -> Place:
        """The place of a field, or of the nearest one around it; an empty one when unknown."""
        return next(
            (self.places[prefix] for prefix in prefixes(path) if prefix in self.places),
            Place(None, None),
        )

    def within(self, base: str) -> "SourceMap":
        """The same places for a document that is laid at ``base`` in a larger one."""
        return SourceMap(
            {f"{base}.{path}" if path else base: place for path, place in self.places.items()}
        )

    def joined(self, other: "SourceMap") -> "SourceMap":
        """Both; ``other`` wins."""
        return SourceMap({**self.places, **other.places})


def _placed(problem: Problem, place: Place, rest: str) -> Problem:
    renamed = problem.field if place.field is None else (place.field + rest).lstrip(".")
    return replace(
        problem,
        field=renamed or problem.field,
        file=problem.file or place.file,
        line=problem.line or place.line,
    )


def prefixes(path: str) -> Iterator[str]:
    """The path itself, then what is around it, up to the document (the empty path)."""
    while path:
        yield path
        cut = max(path.rfind("."), path.rfind("["))
        path = path[: max(cut, 0)]
    yield ""
