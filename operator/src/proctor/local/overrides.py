"""Command line flags laid over a run.

What they say of agent, limits and sandbox is the topmost layer, so that it wins over tasks and
variants too; everything else goes into the spec itself.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import EvalRunSpec
from proctor.api.task import AgentSpec, Limits, Sandbox
from proctor.api.validation import read_model
from proctor.planning.documents import read_documents
from proctor.planning.layers import Layer
from proctor.planning.model import RunSource
from proctor.planning.places import Place, SourceMap

COMMAND_LINE = "command line"

_LAYERED: Mapping[str, type[BaseModel]] = {
    "agent": AgentSpec,
    "limits": Limits,
    "sandbox": Sandbox,
}
_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+)\]")
_SHOWN_CHARS = 80
_WORDS = {"y", "n", "yes", "no", "on", "off"}


@dataclass(frozen=True, slots=True)
class Flags:
    """What the command line says about a run; None and empty: nothing.

    Args:
        sets: Dotted path → value, from ``--set PATH=VALUE``.
        record: Cassette to write what models answer to.
        replay: Cassette that answers instead of models.
    """

    tasks: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    limit: int | None = None
    repeats: int | None = None
    agent: str | None = None
    model: str | None = None
    seed: str | None = None
    parallelism: int | None = None
    sets: Mapping[str, Any] | None = None
    record: Path | None = None
    replay: Path | None = None


def parse_sets(pairs: Sequence[str]) -> dict[str, Any]:
    """Read ``PATH=VALUE`` pairs; values are YAML, but words such as ``on`` stay words.

    Raises:
        SpecError: For a pair that is none, a value that is not YAML, or a path given twice.
    """
    sets, problems = dict[str, Any](), list[Problem]()
    for pair in pairs:
        path, equals, text = pair.partition("=")
        path = path.removeprefix("spec.")
        if not equals or not _steps(path):
            problems.append(_problem(pair, "is not PATH=VALUE", "write limits.maxTurns=20"))
        elif path in sets:
            problems.append(_problem(path, "is given twice", "give it once"))
        else:
            sets[path] = text if text.lower() in _WORDS else _value(path, text, problems)
    if problems:
        raise SpecError(problems)
    return sets


def _value(path: str, text: str, problems: list[Problem]) -> Any:
    """A value as a manifest would have it; empty text is null."""
    try:
        documents = read_documents(text)
        found = [problem for document in documents for problem in document.problems]
    except SpecError as error:
        documents, found = (), list(error.problems)
    if len(documents) > 1:
        found.append(Problem(path, "holds several documents", ""))
    shown = text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
    for problem in found:
        problems.append(_problem(path, f"{shown!r}: {problem.message}", "quote the value"))
    return documents[0].value if documents else None


def with_flags(source: RunSource, flags: Flags) -> RunSource:
    """The run with the flags laid over it.

    Raises:
        SpecError: When a flag names no field, or gives one a value that it cannot have.
    """
    sets = _as_sets(flags)
    layered = {path: value for path, value in sets.items() if _root(path) in _LAYERED}
    others = {path: value for path, value in sets.items() if path not in layered}
    problems = list[Problem]()
    overrides = _layer(layered, problems) if layered else source.overrides
    spec = _spec(source.spec, others, problems) if others else source.spec
    if problems:
        raise SpecError(problems)
    written = SourceMap(
        {f"spec.{path}": Place(COMMAND_LINE, None) for path in others}
        | {f"--set.{path}": Place(COMMAND_LINE, None, _flag(path, flags)) for path in layered}
    )
    return replace(
        source,
        spec=spec,
        seed=source.seed if flags.seed is None else flags.seed,
        overrides=overrides,
        places=source.places.joined(written),
    )


def _as_sets(flags: Flags) -> dict[str, Any]:
    """All flags as paths and values; a flag of its own wins nothing over ``--set``: both are one.

    Raises:
        SpecError: When a field is given by both.
    """
    own = {
        "select.tasks": list(flags.tasks) or None,
        "select.tags": list(flags.tags) or None,
        "select.limit": flags.limit,
        "repeats": flags.repeats,
        "agent.type": flags.agent,
        "agent.model": flags.model,
        "models": _models(flags),
    }
    given = {path: value for path, value in own.items() if value is not None}
    sets = dict(flags.sets or {})
    twice = [_problem(path, "is given twice", "give it once") for path in given if path in sets]
    if twice:
        raise SpecError(twice)
    return {**sets, **given}


def _flag(path: str, flags: Flags) -> str:
    """How a person wrote it."""
    return "--agent" if path == "agent.type" and flags.agent else f"--set {path}"


def _models(flags: Flags) -> dict[str, Any] | None:
    """A cassette of the command line takes the place of whatever answers in the spec."""
    if flags.record is not None and flags.replay is not None:
        raise SpecError([_problem("models", "cannot be recorded and replayed", "give one of both")])
    file = flags.record or flags.replay
    if file is None:
        return None
    mode = "Record" if flags.record else "Replay"
    return {"mode": mode, "cassette": {"file": str(file.absolute())}}


def _layer(sets: Mapping[str, Any], problems: list[Problem]) -> Layer | None:
    body = dict[str, Any]()
    for path, value in sets.items():
        _put(body, path, value, problems)
    try:
        return layer_of(body)
    except SpecError as error:
        problems += [replace(problem, file=COMMAND_LINE) for problem in error.problems]
        return None


def layer_of(body: Mapping[str, Any]) -> Layer:
    """The topmost layer, from JSON with any of ``agent``, ``limits`` and ``sandbox``.

    Raises:
        SpecError: With all problems.
    """
    parts, problems = dict[str, Any](), list[Problem]()
    for root, model in _LAYERED.items():
        try:
            parts[root] = read_model(model, body[root], f"--set {root}") if root in body else None
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)
    return Layer("cli", "--set", **parts)


def _spec(spec: EvalRunSpec, sets: Mapping[str, Any], problems: list[Problem]) -> EvalRunSpec:
    body = spec.model_dump(mode="json", by_alias=True, exclude_unset=True)
    for path, value in sets.items():
        _put(body, path, value, problems)
    try:
        return read_model(EvalRunSpec, body, "spec")
    except SpecError as error:
        problems += [replace(problem, file=COMMAND_LINE) for problem in error.problems]
        return spec


def _put(body: dict[str, Any], path: str, value: Any, problems: list[Problem]) -> None:
    """Set one field; objects on the way are made, items of lists must exist."""
    here: Any = body
    *way, last = _steps(path)
    try:
        for step in way:
            if isinstance(step, str) and here.get(step) is None:
                here[step] = {}
            here = here[step]
        if isinstance(here, list) != isinstance(last, int):
            raise TypeError
        here[last] = value
    except (AttributeError, IndexError, KeyError, TypeError):
        problems.append(_problem(path, "names no field", "see the EvalRun's fields"))


def _steps(path: str) -> list[str | int]:
    """``tasks[2].prompt`` → ``["tasks", 2, "prompt"]``; empty when it is no path."""
    steps = list[str | int]()
    for part in path.split("."):
        found = list(_STEP.finditer(part))
        if not part or "".join(one.group() for one in found) != part:
            return []
        steps += [one.group(1) or int(one.group(2)) for one in found]
    return steps


def _root(path: str) -> str:
    return re.split(r"[.\[]", path, maxsplit=1)[0]


def _problem(field: str, message: str, remedy: str) -> Problem:
    return Problem(f"--set {field}", message, remedy, file=COMMAND_LINE)
