"""From a criterion as it was written to one that is checked, with the commands it needs."""

from proctor.api.errors import Problem, SpecError
from proctor.api.evidence import Command
from proctor.api.task import CriterionSpec
from proctor.api.validation import read_model
from proctor.criteria.contract import Criterion
from proctor.planning.kinds import ResolvedCriterion
from proctor.plugins.errors import PluginError
from proctor.plugins.registrar import RegisteredCriterion


def resolve_criterion(
    registered: RegisteredCriterion, spec: CriterionSpec, field: str
) -> ResolvedCriterion | tuple[Problem, ...]:
    """Check the fields of ``spec`` against the type's model, defaults filled in.

    Raises:
        PluginError: When the type's own code is wrong; no spec can mend that.
    """
    try:
        criterion = read_model(registered.model, spec.options(), field)
    except SpecError as error:
        return error.problems
    threshold = spec.pass_threshold
    return ResolvedCriterion(
        type=spec.type,
        name=spec.name,
        pass_threshold=registered.default_pass_threshold if threshold is None else threshold,
        traits=registered.traits.model_copy(update={"reads": criterion.reads()}),
        options=criterion.model_dump(mode="json", by_alias=True),
        commands=_commands(criterion),
    )


def _commands(criterion: Criterion) -> tuple[Command, ...]:
    try:
        commands = tuple(criterion.commands())
    except Exception as error:
        raise PluginError(
            f"criterion {criterion.type!r} failed to name commands: {error}"
        ) from error
    if commands and not criterion.traits.checks:
        raise PluginError(f"criterion {criterion.type!r} has commands but not the trait 'checks'")
    return commands
