"""A folder of tasks → what is sent of it, or all that is wrong with it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from proctor.api.errors import Problem, SpecError, UserError
from proctor.api.evalrun import MAX_TASKS, EvalRunSpec
from proctor.api.results import MAX_BUNDLE_BYTES
from proctor.api.task import AgentSpec, Task
from proctor.local.loading import examine_sources, held_config_maps
from proctor.local.overrides import Flags
from proctor.local.planned import PlannedRun
from proctor.local.sources import Sources, read_sources
from proctor.planning.bundle import HIDDEN_PART, VISIBLE_PART, Bundle, packed, unpacked
from proctor.planning.config_maps import with_config_maps
from proctor.planning.model import RunSource

_STAND_IN = {"type": "command", "options": {"command": "true"}}


@dataclass(frozen=True, slots=True)
class PackedTasks:
    """What is sent.

    Args:
        tasks: Their names, in order.
        runs: Planned as `proctor validate` plans them.
        warnings: What is tolerated, and what is not in the bundle.
    """

    bundle: Bundle
    tasks: tuple[str, ...]
    runs: tuple[PlannedRun, ...]
    warnings: tuple[Problem, ...]


def pack_tasks(path: Path) -> PackedTasks:
    """Read, check and pack the tasks of a folder, or of a file.

    Raises:
        SpecError: With all problems: those of `proctor validate`, and what cannot be sent.
        UserError: There are no tasks.
    """
    root = path if path.is_dir() else path.parent
    sources = read_sources([path], Sources(packed_below=root, most_tasks=MAX_TASKS))
    loaded = examine_sources(sources, Flags(), _with_an_agent)
    tasks = tuple(task for source in loaded.sources for task in _tasks(source, sources))
    problems = loaded.problems or (*_twice(tasks), *_too_many(tasks))
    if problems:
        raise SpecError(problems)
    if not tasks:
        raise UserError(f"{path} holds no task that is not skipped")
    bundle = packed(tasks)
    _require_readable(bundle, path, len(tasks))
    left_out = tuple(one for source in loaded.sources for one in _left_out(source))
    names = tuple(task.name for task in tasks)
    return PackedTasks(bundle, names, loaded.runs, (*loaded.warnings, *left_out))


def _with_an_agent(source: RunSource) -> RunSource:
    """The same run with an agent, where it leaves that to the run that will name the bundle.

    Its tasks are checked as those of any agent; options of an agent that nobody names are not.
    """
    spec = source.spec
    if (spec.agent is not None and spec.agent.type) or _all_named(spec):
        return source
    written = {} if spec.agent is None else spec.agent.model_dump(exclude_unset=True)
    agent = AgentSpec.model_validate({**written, **_STAND_IN})
    tasks = tuple(_without_options(task) for task in spec.tasks)
    return replace(source, spec=spec.model_copy(update={"agent": agent, "tasks": tasks}))


def _all_named(spec: EvalRunSpec) -> bool:
    return bool(spec.variants) and all(one.agent and one.agent.type for one in spec.variants)


def _without_options(task: Task) -> Task:
    if task.agent is None or task.agent.type is not None:
        return task
    body = task.agent.model_dump(exclude_unset=True, exclude={"options"})
    return task.model_copy(update={"agent": AgentSpec.model_validate(body)})


def _tasks(source: RunSource, sources: Sources) -> Iterator[Task]:
    """The tasks of a run, with the files of ConfigMaps that stand beside it."""
    filled = with_config_maps(replace(source, config_maps=held_config_maps(source, sources)))
    for task in filled.spec.tasks:
        if task.workspace is not None and task.workspace.config_map is not None:
            held = task.workspace.model_copy(update={"config_map": None})
            yield task.model_copy(update={"workspace": held})
        else:
            yield task


def _twice(tasks: Sequence[Task]) -> Iterator[Problem]:
    names = [task.name for task in tasks]
    for index, name in enumerate(names):
        if name in names[:index]:
            yield Problem("tasks", f"two tasks are called {name!r}", "rename one of them")


def _too_many(tasks: Sequence[Task]) -> Iterator[Problem]:
    count = len(tasks)
    if count > MAX_TASKS:
        yield Problem("tasks", f"{count} tasks are too many", f"push at most {MAX_TASKS} at a time")


def _require_readable(bundle: Bundle, path: Path, count: int) -> None:
    """Refuse what the cluster would refuse, before it is sent."""
    if bundle.size_bytes > MAX_BUNDLE_BYTES:
        message = f"{count} tasks with their files are {bundle.size_bytes} bytes"
        remedy = (
            f"push at most {MAX_BUNDLE_BYTES >> 20} MiB at a time, or lay large files of "
            "workspaces into images"
        )
        raise SpecError([Problem("tasks", message, remedy, file=str(path))])
    unpacked(bundle.parts[VISIBLE_PART], bundle.parts[HIDDEN_PART], "bundle")


def _left_out(source: RunSource) -> Iterator[Problem]:
    """What else an EvalRun says."""
    fields = EvalRunSpec.model_fields
    written = source.spec.model_fields_set - {"tasks"}
    others = sorted(fields[name].alias or name for name in written)
    if others:
        message = f"of EvalRun {source.name!r} only the tasks are sent, not {', '.join(others)}"
        yield source.places.locate(Problem("spec", message, "write them where the bundle is named"))
