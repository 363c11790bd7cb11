"""Values of ``agent.secretEnv`` on this machine: the user's variables of the same names."""

from collections.abc import Mapping, Sequence

from proctor.api.errors import UserError
from proctor.local.planned import PlannedRun


def secret_variables(runs: Sequence[PlannedRun]) -> tuple[str, ...]:
    """Names of all variables that agents of these runs are given as secrets, sorted."""
    cells = [cell for run in runs for cell in run.plan.cells.values()]
    return tuple(sorted({name for cell in cells for name in cell.secret_env}))


def find_secrets(runs: Sequence[PlannedRun], environment: Mapping[str, str]) -> dict[str, str]:
    """Their values, by name.

    Raises:
        UserError: When variables are not set; it names all of them, and never a value.
    """
    names = secret_variables(runs)
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise UserError(
            f"agent.secretEnv is taken from your environment here, and {', '.join(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not set: export it, or leave it out of the run"
        )
    return {name: environment[name] for name in names}
