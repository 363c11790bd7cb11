"""The criteria of a trial: those of its task, then those of the run, resolved and checked."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from proctor.api.errors import Problem
from proctor.api.task import MAX_CRITERIA, CriterionSpec, Task
from proctor.planning.kinds import Kinds, ResolvedCriterion

_REFERENCE = "REFERENCE_DIR"
_ADD_ONE = "add at least one criterion with a weight above 0 to the task or to spec.criteria"


@dataclass(frozen=True, slots=True)
class TrialCriterion:
    """One criterion at its place in a trial.

    Args:
        field: Where it was written.
        name: Unique in the trial.
    """

    field: str
    name: str
    weight: float
    resolved: ResolvedCriterion


@dataclass(frozen=True, slots=True)
class Resolved:
    """The criteria of one list, each resolved or with its problems."""

    field: str
    specs: Sequence[CriterionSpec]
    results: tuple[ResolvedCriterion | tuple[Problem, ...], ...]

    def problems(self) -> Iterator[Problem]:
        """All that is wrong with the criteria themselves."""
        for result in self.results:
            if not isinstance(result, ResolvedCriterion):
                yield from result


def resolve(specs: Sequence[CriterionSpec], field: str, kinds: Kinds) -> Resolved:
    """Resolve a list of criteria once; ``field`` is the list's path."""
    results = (kinds.criterion(spec, f"{field}[{index}]") for index, spec in enumerate(specs))
    return Resolved(field, specs, tuple(results))


def trial_criteria(task: Resolved, run: Resolved) -> tuple[TrialCriterion, ...]:
    """Those of the task, then those of the run; what could not be resolved is left out."""
    found = list[TrialCriterion]()
    for part, before in ((task, 0), (run, len(task.specs))):
        for index, (spec, result) in enumerate(zip(part.specs, part.results, strict=True)):
            if isinstance(result, ResolvedCriterion):
                name = result.name or f"{result.type}[{before + index}]"
                found.append(TrialCriterion(f"{part.field}[{index}]", name, spec.weight, result))
    return tuple(found)


def criteria_problems(
    task: Task, field: str, own: Resolved, run: Resolved, criteria: Sequence[TrialCriterion]
) -> Iterator[Problem]:
    """What is wrong with the criteria of one task, taken together; ``field`` is the task's path."""
    count = len(own.specs) + len(run.specs)
    weights = [spec.weight for part in (own, run) for spec in part.specs]
    if count == 0:
        yield Problem(f"{field}.criteria", f"task {task.name!r} has no criteria", _ADD_ONE)
    elif not any(weights):
        yield Problem(
            f"{field}.criteria", f"all criteria of task {task.name!r} have weight 0", _ADD_ONE
        )
    if count > MAX_CRITERIA:
        yield Problem(
            f"{field}.criteria",
            f"task {task.name!r} has {count} criteria with those of the run",
            f"keep them at {MAX_CRITERIA} or fewer",
        )
    yield from _name_problems(criteria)
    if task.reference is None:
        yield from _reference_problems(criteria)


def _name_problems(criteria: Sequence[TrialCriterion]) -> Iterator[Problem]:
    seen: dict[str, str] = {}
    for criterion in criteria:
        if criterion.name in seen:
            yield Problem(
                f"{criterion.field}.name",
                f"the name {criterion.name!r} is taken by {seen[criterion.name]}",
                "give each criterion of a task a name of its own",
            )
        seen.setdefault(criterion.name, criterion.field)


def _reference_problems(criteria: Sequence[TrialCriterion]) -> Iterator[Problem]:
    for criterion in criteria:
        if _reads_reference(criterion.resolved):
            yield Problem(
                criterion.field,
                f"criterion {criterion.name!r} reads the reference, and the task has none",
                "add `reference: {files: [...]}` to the task",
            )


def _reads_reference(criterion: ResolvedCriterion) -> bool:
    return "reference" in criterion.traits.reads or any(
        _REFERENCE in word for command in criterion.commands for word in command.argv
    )


def agent_problems(criteria: Sequence[TrialCriterion]) -> Iterator[Problem]:
    """Criteria that say nothing without an agent, for a trial with agent type none."""
    for criterion in criteria:
        if criterion.resolved.traits.needs_agent:
            yield Problem(
                criterion.field,
                f"criterion {criterion.name!r} looks at what an agent did; none does nothing",
                "choose an agent, or a criterion over files",
            )
