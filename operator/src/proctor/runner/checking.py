"""Runs the commands of criteria, each in a fresh process tree, and keeps what came of them.

Code that the agent left runs with them. Who calls it says where: in a container of its own, on
copies, or in the agent's.
"""

import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from proctor.api.evidence import Command, CommandResult, EvidenceLimitError
from proctor.api.orders import ChecksOrders, CriterionCommands
from proctor.api.report import ChecksReport, ShellResult
from proctor.runner.capture import CapturedWorkspace, CaptureLimits
from proctor.runner.command import STREAM_BYTES, Place, first_failure, run_command, run_in_order
from proctor.runner.folders import wipe
from proctor.runner.laying import lay_files
from proctor.runner.processes import kill_everything

_EVIDENCE_BYTES = 24 * 1024 * 1024
_NONCE = "PROCTOR_NONCE"
_SCARCE_BYTES = 4 * 1024
_OUTPUTS = CaptureLimits(entries=50_000, files=200, file_bytes=1 << 20, total_bytes=4 << 20)


@dataclass(slots=True)
class _Checks:
    """What the commands share; ``kept`` counts the bytes of evidence so far."""

    orders: ChecksOrders
    place: Place
    reference: Path
    deadline: float
    kept: int = 0


def carry_out(orders: ChecksOrders, place: Place, scratch: Path, begin: float) -> ChecksReport:
    """Run ``preRun``, all commands and ``postRun``; nothing that they started is left.

    Args:
        orders: What to run, and the hidden files beside it.
        place: Where; ``$REFERENCE_DIR`` is added.
        scratch: A folder for the hidden files; it is emptied.
        begin: The moment of ``time.monotonic`` from which the orders' time counts.

    Raises:
        PlatformError: When processes survived, or a hidden file cannot be laid.
        OSError: When the scratch folder cannot be used.
    """
    wipe(scratch)
    # Nobody can have laid a symlink to a name that does not exist yet.
    reference = scratch / os.urandom(8).hex()
    reference.mkdir(mode=0o700)
    place = replace(place, env={**place.env, "REFERENCE_DIR": str(reference)})
    checks = _Checks(orders, place, reference, begin + orders.timeout_seconds)
    pre_run = run_in_order(orders.pre_run, place, checks.deadline)
    kill_everything()
    failure = first_failure(pre_run, orders.pre_run)
    results = {} if failure else {one.index: _run(checks, one) for one in orders.commands}
    wipe(reference)
    post_run = _run_post(checks)
    return ChecksReport(results, pre_run, post_run, time.monotonic() - begin, failure)


def _run(checks: _Checks, criterion: CriterionCommands) -> tuple[CommandResult, ...]:
    """Run one criterion's commands, each in a fresh process tree, beside fresh hidden files.

    The hidden files are laid again because code of the agent, run for an earlier criterion, could
    have changed them.
    """
    wipe(checks.reference)
    lay_files(checks.reference, checks.orders.reference)
    return tuple(_run_command(checks, command) for command in criterion.commands)


def _run_command(checks: _Checks, command: Command) -> CommandResult:
    left = checks.deadline - time.monotonic()
    if left <= 0:
        problem = f"not run: the checks' {checks.orders.timeout_seconds} s were used up"
        return CommandResult(None, b"", b"", 0.0, problem=problem)
    nonce = os.urandom(16).hex() if command.nonce else ""
    given = {_NONCE: nonce} if nonce else {}
    place = replace(checks.place, env={**checks.place.env, **command.env, **given})
    limit = STREAM_BYTES if checks.kept < _EVIDENCE_BYTES else _SCARCE_BYTES
    result = run_command(command.argv, place, min(command.timeout_seconds, left), limit)
    kill_everything()
    result = replace(result, nonce=nonce)
    if command.outputs:
        result = _with_outputs(checks, command, result)
    checks.kept += len(result.stdout) + len(result.stderr)
    return result


def _with_outputs(checks: _Checks, command: Command, result: CommandResult) -> CommandResult:
    """Read the files that the command was asked to make; beyond limits they are not taken."""
    workspace = CapturedWorkspace(checks.place.folder, _OUTPUTS)
    outputs: dict[str, bytes] = {}
    try:
        for glob in command.outputs:
            outputs.update(workspace.files(glob))
    except EvidenceLimitError as error:
        return replace(result, truncated=True, problem=result.problem or f"outputs: {error}")
    if checks.kept + sum(map(len, outputs.values())) > _EVIDENCE_BYTES:
        return replace(result, truncated=True, problem=result.problem or "outputs: too many bytes")
    checks.kept += sum(map(len, outputs.values()))
    return replace(result, outputs=outputs)


def _run_post(checks: _Checks) -> tuple[ShellResult, ...]:
    results = run_in_order(checks.orders.post_run, checks.place, checks.deadline)
    kill_everything()
    return results
