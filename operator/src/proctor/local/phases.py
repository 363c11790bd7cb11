"""The phases of a trial as child processes of this one.

``Phases`` is the port; ``ChildPhases`` starts ``python -m proctor.runner`` below a keeper
(``keeper.py``), so that a phase ends with everything that it started.
"""

import asyncio
import signal
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from proctor.api.redaction import SECRET_PREFIX
from proctor.local import keeper
from proctor.local.contained import Confined
from proctor.local.files import end_of_file, open_log
from proctor.local.strays import children, kill_below, kill_strays

_LAST_LINE_BYTES = 4096
_SLACK_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class PhaseOrder:
    """One phase to run.

    Args:
        name: Of the runner's phase, such as ``agent``.
        arguments: What follows the name on the runner's command line.
        folder: Where it is started; nothing of the agent's lies there.
        log: File for its standard output and error.
        timeout_seconds: Backstop; the runner keeps the phase's own limits, which are shorter.
        secrets: What it hands to the agent, or takes out of what it keeps: name → value.
        confined: The container that it runs in; None: it runs on this machine.
    """

    name: str
    arguments: tuple[str, ...]
    folder: Path
    log: Path
    timeout_seconds: float
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    confined: Confined | None = None

    @property
    def variables(self) -> dict[str, str]:
        """The secrets as variables of the runner, under names of ours."""
        return {f"{SECRET_PREFIX}{name}": value for name, value in self.secrets.items()}


@dataclass(frozen=True, slots=True)
class PhaseEnd:
    """How a phase ended.

    Args:
        exit_code: 0: it did its work. Above 128: a signal ended it.
        timed_out: The backstop ended it.
        last_line: Of its log, for people; empty when it wrote nothing.
        out_of_memory: The kernel killed something of it for its container's limit.
        started: False: its container could not be started.
    """

    exit_code: int
    timed_out: bool = False
    last_line: str = ""
    out_of_memory: bool = False
    started: bool = True


class Phases(Protocol):
    """Runs phases. Cancelled, it returns only when nothing of the phase is left."""

    async def run(self, order: PhaseOrder) -> PhaseEnd:
        """Run one phase to its end."""

    def kill(self) -> None:
        """End all phases at once, without a chance to write anything."""


class ChildPhases:
    """Runs phases as child processes.

    ``orphans``: what a killed keeper leaves becomes a child of this process, and is killed. Not
    where other things are its children, and no phase here runs code of an agent.
    """

    def __init__(
        self,
        environment: Mapping[str, str],
        grace_seconds: float = 3.0,
        program: Sequence[str] = (sys.executable, "-P", "-m", "proctor.runner"),
        *,
        orphans: bool = True,
    ) -> None:
        self._environment = dict(environment)
        self._grace_seconds = grace_seconds
        self._program = tuple(program)
        self._alive: set[asyncio.subprocess.Process] = set()
        self._others = children()
        self._orphans = orphans

    async def run(self, order: PhaseOrder) -> PhaseEnd:
        """Run one phase to its end."""
        process = await self._start(order)
        self._alive.add(process)
        try:
            exit_code, timed_out = await self._wait(process, order.timeout_seconds)
        finally:
            self._alive.discard(process)
            if self._orphans and process.returncode is not None and process.returncode < 0:
                kill_strays({*self._others, *(one.pid for one in self._alive)})
        return PhaseEnd(exit_code, timed_out, last_line(order.log))

    def kill(self) -> None:
        """End all phases at once: the keepers see the end of their standard input."""
        for process in self._alive:
            _hang_up(process)

    async def _start(self, order: PhaseOrder) -> asyncio.subprocess.Process:
        command = (sys.executable, "-I", "-S", keeper.__file__, str(self._grace_seconds))
        with open_log(order.log) as log:
            return await asyncio.create_subprocess_exec(
                *command,
                *self._program,
                order.name,
                *order.arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=log,
                stderr=log,
                cwd=order.folder,
                env={**self._environment, **order.variables},
                start_new_session=True,
            )

    async def _wait(
        self, process: asyncio.subprocess.Process, timeout_seconds: float
    ) -> tuple[int, bool]:
        try:
            return await asyncio.wait_for(process.wait(), timeout_seconds), False
        except TimeoutError:
            return await self._end(process), True
        except asyncio.CancelledError:
            await self._end(process)
            raise

    async def _end(self, process: asyncio.subprocess.Process) -> int:
        """Ask the phase to end and wait until it and all that it started is gone.

        A keeper that does not obey was stopped by the agent: it is killed with everything below.
        """
        _ask(process)
        patience = self._grace_seconds + keeper.LAST_SWEEP_SECONDS + _SLACK_SECONDS
        try:
            return await asyncio.wait_for(asyncio.shield(process.wait()), patience)
        except TimeoutError:
            kill_below(process.pid)
            return await asyncio.shield(process.wait())


def _ask(process: asyncio.subprocess.Process) -> None:
    """Ask a keeper to end its phase, also one that the agent has stopped."""
    with suppress(ProcessLookupError):
        process.send_signal(signal.SIGCONT)
    if process.stdin is not None:
        with suppress(OSError):
            process.stdin.write(b"t")


def _hang_up(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()


def last_line(log: Path) -> str:
    """The last line of a log that says something; empty when there is none."""
    lines = end_of_file(log, _LAST_LINE_BYTES).decode(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")
