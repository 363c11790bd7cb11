"""Paths → the runs that they hold, as they were written; nothing is planned yet.

A folder counts as a whole: one file in it that cannot be read is a problem that names it, so that
a suite never becomes smaller without a word.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import MAX_INLINE_TASKS, MAX_RUN_NAME, EvalRunSpec
from proctor.local.disk import DiskFolder, manifests_below, read_file, real_path
from proctor.local.packing import PackedFolder, linked_folders, require_packable
from proctor.planning.coder_eval import CoderTask
from proctor.planning.manifest import Manifest, read_manifest
from proctor.planning.model import RunSource
from proctor.planning.places import SourceMap

_FALLBACK_NAME = "coder-eval"


@dataclass(slots=True)
class Sources:
    """What the paths hold, collected file by file.

    Args:
        config_maps: Data of ConfigMaps, by name.
        problems: Everything that could not be read.
        unread: Text of the files that have problems, with those, by path.
        warnings: What is tolerated, and tasks that say ``skip: true``.
        packed_below: Folder below which all files must lie as themselves; None: anything goes.
        most_tasks: Of Coder Eval files together.
    """

    runs: list[RunSource] = field(default_factory=list)
    config_maps: dict[str, Mapping[str, str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)
    unread: dict[str, tuple[str, Sequence[Problem]]] = field(default_factory=dict)
    packed_below: Path | None = None
    most_tasks: int = MAX_INLINE_TASKS
    _tasks: list[CoderTask] = field(default_factory=list)
    _foreign: list[tuple[Path, Sequence[Problem]]] = field(default_factory=list)
    _links: list[Path] = field(default_factory=list)
    _used: set[Path] = field(default_factory=set)
    _read: set[Path] = field(default_factory=set)

    def read(self, path: Path) -> None:
        """Read one file; once, though several of the paths lead to it."""
        if not self._may_be_packed(path) or real_path(path) in self._read:
            return
        self._read.add(real_path(path))
        folder = self._folder(path)
        text = ""
        try:
            text = read_file(path).decode("utf-8")
            manifest = read_manifest(text, str(path), folder)
        except OSError as error:
            self._refuse(path, f"cannot be read: {error.strerror}", "check the path")
        except UnicodeDecodeError:
            self._refuse(path, "is not UTF-8 text", "save it as UTF-8")
        except SpecError as error:
            self.problems += error.problems
            self.unread[str(path)] = (text, error.problems)
        else:
            self._take(path, manifest)
        self._used |= folder.used

    def _may_be_packed(self, path: Path) -> bool:
        if self.packed_below is not None:
            try:
                require_packable(path, self.packed_below)
            except OSError as error:
                self._refuse(path, f"cannot be packed: {error.strerror}", "")
                return False
        return True

    def _folder(self, path: Path) -> DiskFolder:
        if self.packed_below is None:
            return DiskFolder(path.parent)
        return PackedFolder(path.parent, self.packed_below)

    def _refuse(self, path: Path, message: str, remedy: str) -> None:
        self.problems.append(Problem("document", message, remedy, file=str(path)))

    def _take(self, path: Path, manifest: Manifest) -> None:
        self.runs += manifest.runs
        self._tasks += manifest.tasks
        self.warnings += manifest.warnings
        for name, data in manifest.config_maps.items():
            if self.config_maps.setdefault(name, data) != data:
                self._refuse(path, f"another file holds another ConfigMap {name!r}", "rename one")
        for name in manifest.skipped:
            self.warnings.append(Problem("skip", f"task {name!r} is skipped", file=str(path)))
        ours = (*manifest.runs, *manifest.tasks, *manifest.config_maps, *manifest.skipped)
        if ours:
            self.warnings += manifest.foreign
        elif manifest.foreign:
            self._foreign.append((path, manifest.foreign))
        else:
            self._refuse(path, "is empty", "write a document, or remove the file")

    def meet_links(self, links: Iterable[Path]) -> None:
        """Links to folders, below which no manifest is looked for."""
        if self.packed_below is None:
            self._links += links
            return
        for link in links:
            text = "is a symbolic link to a folder"
            self.problems.append(Problem("PATH", text, "put the folder there", file=str(link)))

    def finish(self, name: str) -> None:
        """Settle what only all files together can tell; Coder Eval tasks become one run."""
        for path, problems in self._foreign:
            if not self._is_material(path):
                self.problems += problems
        for link in self._links:
            if not self._is_material(link):
                text = "is a symbolic link to a folder, in which no task is looked for"
                remedy = "name it as a PATH of its own"
                self.warnings.append(Problem("PATH", text, remedy, file=str(link)))
        if self._tasks:
            self._add_coder_eval(name)

    def _is_material(self, path: Path) -> bool:
        """Whether a task has taken the file as one of its own, such as a template."""
        resolved = real_path(path)
        return any(used in (resolved, *resolved.parents) for used in self._used)

    def _add_coder_eval(self, name: str) -> None:
        count = len(self._tasks)
        if count > self.most_tasks:
            message = f"{count} tasks are too many for one run"
            remedy = f"run at most {self.most_tasks} at a time"
            self.problems.append(Problem("tasks", message, remedy))
            return
        places = SourceMap()
        for index, task in enumerate(self._tasks):
            places = places.joined(task.places.within(f"spec.tasks[{index}]"))
        tasks = tuple(task.task for task in self._tasks)
        spec = EvalRunSpec(tasks=tasks[:1]).model_copy(update={"tasks": tasks})
        self.runs.append(RunSource(name=name, spec=spec, places=places))


def read_sources(paths: Sequence[Path], sources: Sources | None = None) -> Sources:
    """Read all files and folders; ``sources`` says what is allowed, if it is not the usual."""
    sources = sources or Sources()
    for path in paths:
        if not path.exists():
            sources.problems.append(
                Problem("PATH", "does not exist", "check the path", file=str(path))
            )
        elif path.is_dir():
            _read_folder(path, sources)
        else:
            sources.read(path)
    sources.finish(_run_name(paths))
    return sources


def _read_folder(folder: Path, sources: Sources) -> None:
    try:
        files = manifests_below(folder)
    except OSError as error:
        text = f"cannot be read: {error.strerror}"
        sources.problems.append(Problem("PATH", text, "check the path", file=str(folder)))
        return
    sources.meet_links(linked_folders(folder))
    if not files:
        problem = Problem("PATH", "holds no YAML file", "check the path", file=str(folder))
        sources.problems.append(problem)
    for file in files:
        sources.read(file)


def _run_name(paths: Sequence[Path]) -> str:
    """Name of the run that Coder Eval tasks make: of the only path, else a general one."""
    if len(paths) != 1:
        return _FALLBACK_NAME
    stem = real_path(paths[0]).stem.lower()
    name = re.sub(r"[^a-z0-9]+", "-", stem)[:MAX_RUN_NAME].strip("-")
    return name or _FALLBACK_NAME
