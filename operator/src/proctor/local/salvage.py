"""What else is wrong with a run that cannot be read: it is planned without its bad fields.

So that one look finds all problems: those of single fields, and those that show only when types
are known and layers are merged. What comes out is never run.
"""

import copy
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from proctor.api.errors import Problem, SpecError
from proctor.planning.documents import read_documents
from proctor.planning.manifest import read_run, source_map
from proctor.planning.model import RunSource
from proctor.planning.places import SourceMap
from proctor.planning.recognise import DocumentKind, document_kind

_NAME = "run"
_STEP = re.compile(r"\.?([^.\[\]]+)|\[(\d+)\]")


def further_problems(
    text: str, file: str, found: Sequence[Problem], plan: Callable[[RunSource], object]
) -> tuple[Problem, ...]:
    """Problems of a file's EvalRuns beyond those that were ``found`` when it was read.

    ``plan`` raises ``SpecError`` with what is wrong with a run.
    """
    further = list[Problem]()
    try:
        documents = read_documents(text, file)
    except SpecError:
        return ()
    for document in documents:
        if document_kind(document.value) is DocumentKind.EVAL_RUN:
            further += _of_run(document.value, file, source_map(document, file), plan)
    return tuple(problem for problem in further if problem not in found)


def _of_run(
    body: Mapping[str, Any], file: str, places: SourceMap, plan: Callable[[RunSource], object]
) -> Iterator[Problem]:
    """Take the bad fields away, and keep what planning says of the others."""
    try:
        read_run(body, places)
        return
    except SpecError as error:
        bad = [problem.field for problem in error.problems]
    pruned = copy.deepcopy(dict(body))
    for field in bad:
        _remove(pruned, field)
    pruned["metadata"] = {"name": _NAME}
    try:
        plan(read_run(pruned, places))
    except SpecError as error:
        for problem in error.problems:
            if problem.file == file and not any(_touches(problem.field, one) for one in bad):
                yield problem


def _remove(body: dict[str, Any], field: str) -> None:
    """Remove one field; an item of a list stays, because others are counted by it."""
    here: Any = body
    *way, last = [name or int(index) for name, index in _STEP.findall(field)]
    try:
        for step in way:
            here = here[step]
        if isinstance(here, dict):
            here.pop(last, None)
    except (IndexError, KeyError, TypeError):
        return


def _touches(one: str, other: str) -> bool:
    """Whether one field is the other, or lies within it."""
    return _within(one, other) or _within(other, one)


def _within(inner: str, outer: str) -> bool:
    return inner == outer or inner.startswith((f"{outer}.", f"{outer}["))
