"""A run's spec → the trials that exist, and the orders of their phases.

Pure: nothing is read, no clock, no chance. Both launchers, `proctor validate` and the operator's
`Accepted` call `plan_run`, so that all of them say the same about the same file.
"""

from collections.abc import Callable, Iterable, Iterator

from proctor.api.errors import Problem, SpecError
from proctor.api.evalrun import MAX_TASKS
from proctor.api.task import Variant
from proctor.planning.bundles import bundle_problems, with_bundles
from proctor.planning.cells import CellMaker, Pair
from proctor.planning.checks import criteria_problems, resolve, trial_criteria
from proctor.planning.config_maps import missing_config_maps, with_config_maps
from proctor.planning.kinds import Kinds
from proctor.planning.model import Cell, RunPlan, RunSource, TrialId
from proctor.planning.order import start_order
from proctor.planning.rules import name_problems, spec_problems
from proctor.planning.secret_uses import count_problems
from proctor.planning.selecting import selected_tasks

__all__ = ["Cell", "RunPlan", "RunSource", "TrialId", "plan_run"]

DEFAULT_VARIANT = "default"


def plan_run(source: RunSource, kinds: Kinds, priced: Callable[[str], bool]) -> RunPlan:
    """Plan a run. ``priced`` says whether a model has a price: a limit in money needs one.

    Raises:
        SpecError: With all problems at once, each with field and remedy, and with file and line
            when ``source.places`` knows them.
    """
    amiss = tuple(bundle_problems(source))
    source = with_bundles(source)
    if len(source.spec.tasks) > MAX_TASKS:
        _refuse(amiss, source)
    missing = tuple(missing_config_maps(source))
    source = with_config_maps(source)
    made, problems = _cells(source, kinds, priced)
    own = spec_problems(source.spec, knows_all_tasks=not amiss)
    _refuse([*amiss, *missing, *name_problems(source.name), *own, *problems], source)
    tasks = [task.name for task in selected_tasks(source.spec.tasks, source.spec.select)]
    variants = [variant.name for variant in _variants(source)]
    plan = RunPlan(
        trials=start_order(tasks, variants, source.spec.repeats, source.seed),
        cells={(task, variant): made[task, variant] for task in tasks for variant in variants},
        seed=source.seed,
    )
    _refuse(count_problems(plan.secrets), source)
    return plan


def _refuse(problems: Iterable[Problem], source: RunSource) -> None:
    """Raise all problems, each once, with its place; nothing when there is none."""
    found = tuple(dict.fromkeys(source.places.locate(one) for one in problems))
    if found:
        raise SpecError(found)


def _cells(
    source: RunSource, kinds: Kinds, priced: Callable[[str], bool]
) -> tuple[dict[tuple[str, str], Cell], list[Problem]]:
    """The cells that could be made, and what is wrong with the others."""
    maker = CellMaker(source, kinds, priced)
    problems = list[Problem]()
    cells: dict[tuple[str, str], Cell] = {}
    for part in _pairs(source, kinds):
        made = maker.make(part) if isinstance(part, Pair) else (part,)
        if isinstance(made, Cell):
            cells[made.task, made.variant] = made
        else:
            problems += made
    return cells, problems


def _pairs(source: RunSource, kinds: Kinds) -> Iterator[Pair | Problem]:
    """Every task with every variant, and what is wrong with the criteria."""
    run = resolve(source.spec.criteria, "spec.criteria", kinds)
    yield from run.problems()
    for index, task in enumerate(source.spec.tasks):
        field = f"spec.tasks[{index}]"
        own = resolve(task.criteria, f"{field}.criteria", kinds)
        criteria = trial_criteria(own, run)
        yield from own.problems()
        yield from criteria_problems(task, field, own, run, criteria)
        for position, variant in enumerate(_variants(source)):
            yield Pair(task, field, variant, f"spec.variants[{position}]", criteria)


def _variants(source: RunSource) -> tuple[Variant, ...]:
    return source.spec.variants or (Variant(name=DEFAULT_VARIANT),)
