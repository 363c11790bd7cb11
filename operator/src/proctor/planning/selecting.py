"""Which tasks of a run take part."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from proctor.api.errors import Problem
from proctor.api.evalrun import Select
from proctor.api.task import Task


def selected_tasks(tasks: Sequence[Task], select: Select | None) -> tuple[Task, ...]:
    """The tasks that match every field of ``select``, in the spec's order."""
    if select is None:
        return tuple(tasks)
    matching = [task for task in tasks if _matches(task, select)]
    return tuple(matching[: select.limit])


def select_problems(tasks: Sequence[Task], select: Select | None) -> Iterator[Problem]:
    """A selection that names what does not exist, or leaves nothing."""
    if select is None:
        return
    unknown = [*_unknown_names(tasks, select), *_unknown_tags(tasks, select)]
    yield from unknown
    if not unknown and not selected_tasks(tasks, select):
        yield Problem(
            "spec.select", "no task matches all of the selection", "select by fewer fields"
        )


def _unknown_names(tasks: Sequence[Task], select: Select) -> Iterator[Problem]:
    names = [task.name for task in tasks]
    for index, pattern in enumerate(select.tasks):
        if not any(fnmatchcase(name, pattern) for name in names):
            field = f"spec.select.tasks[{index}]"
            yield Problem(field, f"{pattern!r} matches no task", _one_of(names))


def _unknown_tags(tasks: Sequence[Task], select: Select) -> Iterator[Problem]:
    tags = sorted({tag for task in tasks for tag in task.tags})
    for index, tag in enumerate(select.tags):
        if tag not in tags:
            field = f"spec.select.tags[{index}]"
            yield Problem(field, f"no task has the tag {tag!r}", _one_of(tags))


def _matches(task: Task, select: Select) -> bool:
    named = not select.tasks or any(fnmatchcase(task.name, pattern) for pattern in select.tasks)
    tagged = not select.tags or bool(set(task.tags) & set(select.tags))
    return named and tagged


def _one_of(words: Sequence[str]) -> str:
    shown = ", ".join(words[:10])
    more = f" and {len(words) - 10} more" if len(words) > 10 else ""
    return f"known: {shown}{more}" if words else "there are none"
