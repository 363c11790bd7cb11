"""The phase ``checks``: runs commands of criteria on a copy of what the agent left. No pydantic.

It runs in the task's image, and code that the agent left runs with it: what it writes are claims,
made beside agent code, and written last.
"""

import json
import os
import time
from dataclasses import dataclass, replace
from pathlib import Path

from proctor.api.errors import PlatformError
from proctor.api.evidence import Command, CommandResult, EvidenceLimitError
from proctor.api.orders import ChecksOrders, CriterionCommands
from proctor.api.report import CHECKS_REPORT, ChecksReport, ShellResult
from proctor.runner.capture import CapturedWorkspace, CaptureLimits
from proctor.runner.command import STREAM_BYTES, Place, first_failure, run_command, run_in_order
from proctor.runner.copying import copy_tree
from proctor.runner.egress import proxy_environment
from proctor.runner.environment import command_environment
from proctor.runner.folders import require_unused, wipe, write_new
from proctor.runner.hardening import harden
from proctor.runner.ipc import empty_shared_memory
from proctor.runner.laying import lay_files
from proctor.runner.memory import MemoryWatch
from proctor.runner.places import ChecksPlaces, NotStartedError, read_orders
from proctor.runner.printing import printable
from proctor.runner.processes import kill_everything
from proctor.runner.stopping import stop_on_signals

_EVIDENCE_BYTES = 24 * 1024 * 1024
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


def run_checks(places: ChecksPlaces) -> None:
    """Carry out the phase and leave the evidence.

    Raises:
        NotStartedError: When no command has run yet.
        PlatformError: When processes survived.
        OSError: When the evidence cannot be written.
    """
    begin = time.monotonic()
    checks = _prepare(places, begin)
    MemoryWatch().start()
    pre_run = run_in_order(checks.orders.pre_run, checks.place, checks.deadline)
    kill_everything()
    failure = first_failure(pre_run, checks.orders.pre_run)
    results = {} if failure else {one.index: _run(checks, one) for one in checks.orders.commands}
    wipe(checks.reference)
    post_run = _run_post(checks)
    empty_shared_memory()
    report = ChecksReport(results, pre_run, post_run, time.monotonic() - begin, failure)
    wipe(places.evidence)
    write_new(places.evidence, CHECKS_REPORT, json.dumps(report.to_json()).encode())


def _prepare(places: ChecksPlaces, begin: float) -> _Checks:
    try:
        harden()
        stop = stop_on_signals()
        orders = ChecksOrders.from_json(read_orders(places.orders))
        wipe(places.evidence)
    except (PlatformError, OSError, LookupError, TypeError, ValueError) as error:
        raise NotStartedError(f"{type(error).__name__}: {error}") from error
    _copy_frozen(places)
    reference = places.scratch / "reference"
    reference.mkdir(mode=0o700, parents=True, exist_ok=True)
    env = command_environment(os.environ, places.home, places.workspace)
    env |= proxy_environment(places.egress, None)
    env["REFERENCE_DIR"] = str(reference)
    place = Place(places.workspace, env, stop)
    return _Checks(orders, place, reference, begin + orders.timeout_seconds)


def _copy_frozen(places: ChecksPlaces) -> None:
    """Fill our own places; what fails here (no space, no inodes) the agent has left."""
    for source, target in ((places.frozen_workspace, places.workspace), *places.frozen):
        require_unused(target)
        for skipped in copy_tree(source, target):
            print(f"{target}: left out {printable(skipped)}", flush=True)
    places.home.mkdir(parents=True, exist_ok=True)


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
    place = replace(checks.place, env={**checks.place.env, **command.env})
    limit = STREAM_BYTES if checks.kept < _EVIDENCE_BYTES else _SCARCE_BYTES
    result = run_command(command.argv, place, min(command.timeout_seconds, left), limit)
    kill_everything()
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
