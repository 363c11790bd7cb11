"""Documents of a file → runs, ConfigMaps and Coder Eval tasks, with the place of every field.

Pure: what a task file names is read through `Folder`. The operator reads a run's spec with
`parse_spec`, the CLI whole files with `read_manifest`; both say the same about the same spec.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.api.base import API_VERSION
from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import MAX_RUN_NAME, EvalRunSpec
from proctor.api.validation import read_model
from proctor.planning.coder_eval import CoderTask, Folder, read_task
from proctor.planning.documents import Document, read_documents
from proctor.planning.model import RunSource
from proctor.planning.places import Place, SourceMap
from proctor.planning.recognise import DocumentKind, document_kind
from proctor.planning.rules import name_problems
from proctor.planning.size import applied_bytes


@dataclass(frozen=True, slots=True)
class Manifest:
    """What one file holds.

    Args:
        runs: EvalRuns, in the file's order.
        config_maps: Data of ConfigMaps, by name.
        tasks: Coder Eval tasks.
        skipped: Names of tasks that say ``skip: true``; they are reported, never dropped.
        warnings: What is tolerated, such as an unknown field of a Coder Eval file.
        foreign: Documents that are neither ours nor a Coder Eval task, one problem each; the
            caller decides whether that matters.
    """

    runs: tuple[RunSource, ...] = ()
    config_maps: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tasks: tuple[CoderTask, ...] = ()
    skipped: tuple[str, ...] = ()
    warnings: tuple[Problem, ...] = ()
    foreign: tuple[Problem, ...] = ()


def read_manifest(text: str, file: str | None, folder: Folder) -> Manifest:
    """Read all documents of a file. ``folder`` is the one that the file is in.

    Raises:
        SpecError: With the problems of all documents at once.
    """
    reading = _Reading(file, folder)
    for document in read_documents(text, file):
        reading.take(document)
    if reading.problems:
        raise SpecError(tuple(reading.problems))
    return Manifest(
        runs=tuple(reading.runs),
        config_maps=reading.config_maps,
        tasks=tuple(reading.tasks),
        skipped=tuple(reading.skipped),
        warnings=tuple(reading.warnings),
        foreign=tuple(reading.foreign),
    )


def parse_spec(body: Any) -> EvalRunSpec:
    """Read the spec of an EvalRun, as its JSON came from a file or an API server.

    Raises:
        SpecError: With one problem for each field that is wrong.
    """
    spec = read_model(EvalRunSpec, {} if body is None else body, "spec")
    if not spec.tasks and not spec.tasks_from:
        remedy = "add it, or name a bundle in tasksFrom"
        raise SpecError([Problem("spec.tasks", "is required", remedy)])
    return spec


@dataclass(slots=True)
class _Reading:
    """Collects what the documents of one file give."""

    file: str | None
    folder: Folder
    runs: list[RunSource] = field(default_factory=list)
    config_maps: dict[str, Mapping[str, str]] = field(default_factory=dict)
    tasks: list[CoderTask] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    foreign: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    def take(self, document: Document) -> None:
        """Read one document; what is wrong with it is added to the problems."""
        places = source_map(document, self.file)
        self.problems += document.problems
        try:
            self._read(document, places)
        except SpecError as error:
            self.problems += [places.locate(problem) for problem in error.problems]

    def _read(self, document: Document, places: SourceMap) -> None:
        match document_kind(document.value):
            case DocumentKind.EVAL_RUN:
                self.runs.append(read_run(document.value, places))
            case DocumentKind.CONFIG_MAP:
                name, data = _config_map(document.value)
                if self.config_maps.setdefault(name, data) != data:
                    raise SpecError([_twice(name)])
            case DocumentKind.CODER_EVAL_TASK if document.value.get("skip") is True:
                self.skipped.append(str(document.value.get("task_id")))
            case DocumentKind.CODER_EVAL_TASK:
                task = read_task(document.value, places, self.folder)
                self.warnings += [places.locate(warning) for warning in task.warnings]
                self.tasks.append(task)
            case _:
                self.foreign.append(places.locate(_foreign(document.value)))


def read_run(body: Mapping[str, Any], places: SourceMap) -> RunSource:
    """Read an EvalRun document.

    ``metadata.generateName`` gives its name without the random end: who needs a unique name adds
    one.

    Raises:
        SpecError: With one problem for each field that is wrong.
    """
    problems = [*_envelope_problems(body)]
    name, name_field = _name(body.get("metadata"))
    if name is None:
        problem = Problem("metadata.name", "the run has no name", "add metadata: {name: my-run}")
        problems.append(problem)
    else:
        problems += name_problems(name, name_field)
        problems += _prefix_problems(body["metadata"], name_field)
    try:
        spec = parse_spec(body.get("spec"))
    except SpecError as error:
        raise SpecError([*problems, *error.problems]) from None
    if problems or name is None:
        raise SpecError(problems)
    return RunSource(name=name, spec=spec, places=places, size_bytes=applied_bytes(body))


def source_map(document: Document, file: str | None) -> SourceMap:
    """The places of a document's fields."""
    return SourceMap({path: Place(file, line) for path, line in document.lines.items()})


def _envelope_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    if body.get("apiVersion") != API_VERSION:
        yield Problem(
            "apiVersion", f"{body.get('apiVersion')!r} is not read", f"write {API_VERSION}"
        )
    if body.get("kind") != "EvalRun":
        yield Problem("kind", f"{body.get('kind')!r} is not read", "write EvalRun")
    for key in body:
        if key not in ("apiVersion", "kind", "metadata", "spec", "status"):
            remedy = "known fields: apiVersion, kind, metadata, spec"
            yield Problem(key, f"unknown field {key!r}", remedy)


def _name(metadata: Any) -> tuple[str | None, str]:
    """The run's name and the field that it was taken from."""
    if isinstance(metadata, dict):
        for key in ("name", "generateName"):
            written = metadata.get(key)
            if isinstance(written, str) and written:
                return (written if key == "name" else written.rstrip("-.")), f"metadata.{key}"
    return None, "metadata.name"


def _prefix_problems(metadata: Mapping[str, Any], field: str) -> Iterator[Problem]:
    """A beginning of a name that leaves the API server no room for its five characters."""
    prefix, most = metadata.get("generateName"), MAX_RUN_NAME - 5
    if field == "metadata.generateName" and isinstance(prefix, str) and len(prefix) > most:
        message = f"{prefix!r} has {len(prefix)} characters, and the API server adds five"
        yield Problem(field, message, f"shorten it to {most} characters")


def _config_map(body: Mapping[str, Any]) -> tuple[str, Mapping[str, str]]:
    name, where = _name(body.get("metadata"))
    data = body.get("data") or {}
    problems = list[Problem]()
    if name is None:
        problems.append(Problem(where, "the ConfigMap has no name", "add metadata: {name: …}"))
    if not isinstance(data, dict):
        problems.append(Problem("data", "is not an object", "write key: text"))
    elif wrong := [key for key, value in data.items() if not isinstance(value, str)]:
        problems += [Problem(f"data.{key}", "is not text", "write it as `|` text") for key in wrong]
    if problems or name is None:
        raise SpecError(problems)
    return name, data


def _twice(name: str) -> Problem:
    message = f"another ConfigMap {name!r} stands before it in this file"
    return Problem("metadata.name", message, "rename one of them")


def _foreign(body: Any) -> Problem:
    kind = body.get("kind") if isinstance(body, dict) else None
    what = f"kind {kind!r} is not read" if kind else "this is no manifest of Proctor"
    return Problem(
        "kind" if kind else "document",
        what,
        f"write kind: EvalRun with apiVersion: {API_VERSION}, or a Coder Eval task with task_id",
    )
