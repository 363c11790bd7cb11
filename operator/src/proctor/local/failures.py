"""Phases that did not do their work → why, and whose fault it is (pure)."""

import errno

from proctor.api.outcome import FailureClass
from proctor.api.report import NOT_STARTED_EXITS
from proctor.engine.model import Failure
from proctor.local.phases import PhaseEnd

_MACHINE_ERRORS = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM}
)
"""What this machine lacks, whoever runs on it."""


def phase_failure(phase: str, end: PhaseEnd) -> Failure:
    """A phase that runs the agent's code did not do its work.

    What is not shown to be ours is the agent's: whoever runs as the same user can kill the runner
    and take away the evidence, and must gain nothing by it.
    """
    if not end.started:
        return failure(FailureClass.CONFIG, "RunnerCannotStart", end, started=phase == "checks")
    if end.timed_out:
        return failure(FailureClass.TASK, "DeadlineExceeded", end, started=True)
    if end.out_of_memory:
        return failure(FailureClass.TASK, "OOMKilled", end, started=True)
    if end.exit_code in NOT_STARTED_EXITS:
        return failure(FailureClass.INFRA, f"{phase.capitalize()}NotStarted", end)
    return failure(FailureClass.TASK, f"{phase.capitalize()}Ended", end, started=True)


def fill_failure(end: PhaseEnd) -> Failure:
    """The workspace was not filled from the image."""
    reason = "WorkspaceNotFilled" if end.started else "RunnerCannotStart"
    return failure(FailureClass.CONFIG, reason, end)


def broken_places(error: OSError) -> Failure:
    """Our own folders broke after the agent: by it, unless the machine lacks something."""
    message = f"{type(error).__name__}: {error}"
    if error.errno in _MACHINE_ERRORS:
        return Failure(FailureClass.INFRA, "LauncherError", message)
    return Failure(FailureClass.TASK, "PlacesBroken", message, started=True)


def failure(
    failure_class: FailureClass, reason: str, end: PhaseEnd, *, started: bool = False
) -> Failure:
    """A failure that says how the phase ended, and its last line."""
    what = "ended by the launcher after its time limit" if end.timed_out else _exit(end.exit_code)
    message = f"{what}: {end.last_line}" if end.last_line else what
    return Failure(failure_class, reason, message, started)


def _exit(code: int) -> str:
    return f"ended by signal {code - 128}" if code > 128 else f"exit code {code}"
