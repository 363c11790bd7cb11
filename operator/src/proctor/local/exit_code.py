"""The exit code of ``proctor run``, from what its runs reached (pure)."""

from collections.abc import Sequence

from proctor.api.run_status import EvalRunStatus

PASSED = 0
NOT_PASSED = 1
BAD_INPUT = 2
BROKEN = 3
INTERRUPTED = 130


def exit_code(
    runs: Sequence[EvalRunStatus], *, interrupted: bool, failed: Sequence[str] = ()
) -> int:
    """The worst of all runs: broken, then not passed, then passed; an interruption beats all.

    ``failed`` names those whose trials could not be started, whatever an earlier time reached.
    """
    if interrupted:
        return INTERRUPTED
    return BROKEN if failed else max((_of_run(run) for run in runs), default=PASSED)


def _of_run(status: EvalRunStatus) -> int:
    """The gate decides where there is one, but a run without all scores cannot merely fail."""
    if status.gate == "Passed":
        return PASSED
    if status.trials.errored:
        return BROKEN
    passed = status.trials.passed == status.trials.total
    return PASSED if passed and status.gate is None else NOT_PASSED
