"""Tasks → the parts of a bundle, and back (pure).

::

    manifest.json  names both parts; its SHA-256 is the bundle's digest
    tasks.json     of each task what its agent may see
    hidden.json    of each task, in the same order, what is hidden from it, and what is for people

The same tasks give the same bytes on every machine. What is hidden is a part of its own, so that
nothing which lays down the one can show the other.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import MAX_TASKS
from proctor.api.record import RecordManifest, RecordPart
from proctor.api.task import Task
from proctor.api.validation import read_model

VISIBLE_PART = "tasks.json"
HIDDEN_PART = "hidden.json"
PARTS = (HIDDEN_PART, VISIBLE_PART)
"""Sorted, as manifests name them."""

_HIDDEN = ("criteria", "description", "postRun", "reference")
MOST_VALUES = 500_000
"""Of one part: as objects they take some twenty times the memory of their text."""

_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""Possessive and without need of an end: memory and time then grow as the text at most."""

_PRODUCER = "proctor push"
"""Without a version: the digest stands for the tasks alone."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Tasks as bytes.

    Args:
        digest: SHA-256 of the manifest, hexadecimal.
        parts: Content by path.
    """

    digest: str
    manifest: bytes
    parts: Mapping[str, bytes]

    @property
    def size_bytes(self) -> int:
        """Of all that is sent."""
        return len(self.manifest) + sum(map(len, self.parts.values()))


def packed(tasks: Sequence[Task]) -> Bundle:
    """The bundle of these tasks, in this order."""
    bodies = [task.model_dump(mode="json", by_alias=True, exclude_unset=True) for task in tasks]
    hidden = [{key: body[key] for key in _HIDDEN if key in body} for body in bodies]
    visible = [{key: body[key] for key in body if key not in _HIDDEN} for body in bodies]
    parts = {HIDDEN_PART: _bytes(hidden), VISIBLE_PART: _bytes(visible)}
    described = tuple(
        RecordPart(path=path, sha256=hashlib.sha256(parts[path]).hexdigest(), size=len(parts[path]))
        for path in PARTS
    )
    named = RecordManifest(producer=_PRODUCER, parts=described)
    manifest = _bytes(named.model_dump(mode="json", by_alias=True))
    return Bundle(hashlib.sha256(manifest).hexdigest(), manifest, parts)


def unpacked(visible: bytes, hidden: bytes, field: str) -> tuple[Task, ...]:
    """The tasks of a bundle.

    Args:
        visible: Content of ``VISIBLE_PART``.
        hidden: Content of ``HIDDEN_PART``.
        field: Path of the bundle; problems begin with it.

    Raises:
        SpecError: It holds what is no task, with all problems.
    """
    seen, unseen = _objects(visible, field), _objects(hidden, field)
    if len(seen) != len(unseen) or not 0 < len(seen) <= MAX_TASKS:
        raise SpecError([_no_bundle(field)])
    tasks, problems = list[Task](), list[Problem]()
    for index, (one, other) in enumerate(zip(seen, unseen, strict=True)):
        try:
            tasks.append(read_model(Task, {**one, **other}, f"{field}.tasks[{index}]"))
        except SpecError as error:
            problems += error.problems
        except RecursionError:
            raise SpecError([_no_bundle(field)]) from None
    if problems:
        raise SpecError(problems)
    return tuple(tasks)


def _objects(content: bytes, field: str) -> list[dict[str, Any]]:
    marks = _TEXT.sub(b"", content)
    if sum(marks.count(mark) for mark in (b"{", b"[", b",")) > MOST_VALUES:
        message = f"holds more than {MOST_VALUES} values"
        raise SpecError([Problem(field, message, "push it in parts, or as files of the tasks")])
    try:
        read = json.loads(content)
    except (ValueError, RecursionError):
        raise SpecError([_no_bundle(field)]) from None
    if not isinstance(read, list) or not all(isinstance(one, dict) for one in read):
        raise SpecError([_no_bundle(field)])
    return read


def _no_bundle(field: str) -> Problem:
    return Problem(field, "is not what `proctor push` makes", "push the folder again")


def _bytes(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return text.encode()
