"""YAML text → plain JSON values, with the line of every field.

Read as an API server's clients read YAML: keys are text, dates stay text, and a key that occurs
twice is an error. Documents that grow by aliases, or that are too deep to be a manifest, are
refused before they cost anything. Pure: text in, values out.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from proctor.api.errors import Problem, SpecError
from proctor.planning.scalars import scalar_value

MAX_TEXT = 8_000_000
MAX_NODES = 200_000
MAX_DEPTH = 60
DOCUMENT = "document"
"""The field of a problem with the whole of a document."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Document:
    """One document.

    Args:
        value: Mappings, lists, text, numbers, booleans, None; ``{}`` is an empty object.
        lines: 1-based line by path, such as ``spec.tasks[2].name``; the document itself is "".
        problems: What is wrong with it as YAML, such as a key that occurs twice.
    """

    value: Any
    lines: Mapping[str, int]
    problems: tuple[Problem, ...] = ()


@dataclass(slots=True)
class _Anchor:
    value: Any
    nodes: int


@dataclass(slots=True)
class _Reader:
    """Builds one document from events, depth first; knows how large it would be written out."""

    events: Any
    lines: dict[str, int] = field(default_factory=dict)
    anchors: dict[str, _Anchor] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    nodes: int = 0

    def node(self, event: Any, path: str, depth: int) -> Any:
        self._count(1, event)
        self.lines.setdefault(path, event.start_mark.line + 1)
        if isinstance(event, yaml.AliasEvent):
            return self._alias(event)
        if depth > MAX_DEPTH:
            raise _refused(f"is more than {MAX_DEPTH} levels deep", "flatten it", event)
        before = self.nodes
        if isinstance(event, yaml.ScalarEvent):
            value = scalar_value(event, path, self.problems)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = self._sequence(path, depth)
        else:
            value = self._mapping(path, depth)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, self.nodes - before + 1)
        return value

    def _sequence(self, path: str, depth: int) -> list[Any]:
        items = list[Any]()
        while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
            items.append(self.node(event, f"{path}[{len(items)}]", depth + 1))
        return items

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        items: dict[str, Any] = {}
        merged: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            key = self._key(event)
            here = f"{path}.{key}" if path else key
            if key in items:
                self._twice(key, here, event)
            self.lines.setdefault(here, event.start_mark.line + 1)
            value = self.node(next(self.events), here, depth + 1)
            if key == "<<" and not event.style:
                merged = {**self._merged(value, here, event), **merged}
            else:
                items.setdefault(key, value)
        return {**merged, **items}

    def _merged(self, value: Any, path: str, event: Any) -> dict[str, Any]:
        """What ``<<`` brings: a mapping, or a list of mappings of which the first wins."""
        merged: dict[str, Any] = {}
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                merged = {**part, **merged}
            else:
                line = event.start_mark.line + 1
                problem = Problem(
                    path, "merges what is no object", "write << with *alias", line=line
                )
                self.problems.append(problem)
        return merged

    def _key(self, event: Any) -> str:
        if not isinstance(event, yaml.ScalarEvent):
            raise _refused("has a key that is not text", "write keys as words", event)
        return str(event.value)

    def _twice(self, key: str, path: str, event: Any) -> None:
        line = event.start_mark.line + 1
        message = f"the key {key!r} is already on line {self.lines[path]}"
        self.problems.append(Problem(path, message, "remove one of them", line=line))

    def _alias(self, event: Any) -> Any:
        anchor = self.anchors.get(event.anchor)
        if anchor is None:
            raise _refused(f"has no anchor &{event.anchor} before this alias", "define it", event)
        self._count(anchor.nodes, event)
        return anchor.value

    def _count(self, nodes: int, event: Any) -> None:
        self.nodes += nodes
        if self.nodes > MAX_NODES:
            text = f"is more than {MAX_NODES} values once its aliases are written out"
            raise _refused(text, "split it, or use fewer aliases", event)


def read_documents(text: str, file: str | None = None) -> tuple[Document, ...]:
    """All documents of a YAML text, empty ones left out.

    Raises:
        SpecError: When it is not YAML, or too large, too deep, or grows by its aliases.
    """
    if len(text) > MAX_TEXT:
        problem = Problem(DOCUMENT, f"is {len(text)} characters long", "split it", file)
        raise SpecError([problem])
    documents = list[Document]()
    try:
        events = yaml.parse(text, Loader=_LOADER)
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents.append(_document(events))
    except yaml.YAMLError as error:
        raise SpecError([_not_yaml(error, file)]) from None
    except SpecError as error:
        raise SpecError([_in_file(problem, file) for problem in error.problems]) from None
    return tuple(_placed(one, file) for one in documents if one.value is not None or one.problems)


def _document(events: Any) -> Document:
    reader = _Reader(events)
    value = reader.node(next(events), "", 0)
    return Document(value, reader.lines, tuple(reader.problems))


def _placed(document: Document, file: str | None) -> Document:
    problems = tuple(_in_file(problem, file) for problem in document.problems)
    return Document(document.value, document.lines, problems)


def _in_file(problem: Problem, file: str | None) -> Problem:
    return Problem(problem.field, problem.message, problem.remedy, file, problem.line)


def _refused(message: str, remedy: str, event: Any) -> SpecError:
    return SpecError([Problem(DOCUMENT, message, remedy, line=event.start_mark.line + 1)])


def _not_yaml(error: yaml.YAMLError, file: str | None) -> Problem:
    mark = getattr(error, "problem_mark", None)
    reason = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable"
    remedy = (
        "check around this line: indentation has no tabs; text with ': ', ' #' or a first "
        "character such as @ * & ! needs quotes, or a block after |"
    )
    return Problem(
        DOCUMENT, f"is not YAML: {reason}", remedy, file, None if mark is None else mark.line + 1
    )
