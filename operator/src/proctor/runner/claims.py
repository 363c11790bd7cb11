"""Reads what ``agent`` and ``checks`` left. They wrote beside hostile code: all of it is a claim.

Whatever cannot be read as what it should be is the agent's failure once an agent had started
(sandbox rule: blame), so nothing here raises anything but ``ClaimError``.
"""

import json
import math
import os
import stat
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, get_args

from proctor.api.report import (
    AGENT_REPORT,
    CHECKS_REPORT,
    AgentReport,
    AgentStatus,
    ChecksReport,
    ShellResult,
)
from proctor.runner.printing import printable

T = TypeVar("T")

AGENT_BYTES = 1 << 20
TRANSCRIPT_BYTES = 16 << 20
CHECKS_BYTES = 64 << 20
_MOST_SECONDS = 1e7
_MOST_COUNT = 1_000_000
_MOST_COMMANDS = 100
_REASON_CHARACTERS = 500
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ClaimError(Exception):
    """A piece of evidence is missing or is not what it should be; the message says which."""


def read_claim(folder: Path, name: str, most_bytes: int) -> bytes:
    """A regular file of an evidence folder.

    Raises:
        ClaimError: When it is missing, special, unreadable or larger than ``most_bytes``.
    """
    try:
        descriptor = os.open(folder / name, _READ)
    except OSError as error:
        raise ClaimError(f"{name}: {error.strerror}") from error
    with open(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise ClaimError(f"{name}: not a regular file")
        if found.st_size > most_bytes:
            raise ClaimError(f"{name}: {found.st_size} bytes; at most {most_bytes} are read")
        return file.read(most_bytes)


def read_agent_report(folder: Path) -> AgentReport:
    """``agent.json``, with every number and text brought into bounds; ``ClaimError`` without it."""
    report = _parse(
        read_claim(folder, AGENT_REPORT, AGENT_BYTES), AGENT_REPORT, AgentReport.from_json
    )
    if report.status not in get_args(AgentStatus):
        raise ClaimError(f"{AGENT_REPORT}: status {printable(str(report.status), 40)!r}")
    return replace(
        report,
        reason=printable(str(report.reason), _REASON_CHARACTERS),
        started=report.started is True,
        turns=_bounded_count(report.turns),
        memory_kills=_bounded_count(report.memory_kills) or 0,
        seconds=None if report.seconds is None else bounded_seconds(report.seconds),
        pre_run=tuple(_bounded_shell(one) for one in report.pre_run[:_MOST_COMMANDS]),
    )


def _bounded_count(value: Any) -> int | None:
    return value if isinstance(value, int) and 0 <= value <= _MOST_COUNT else None


def _bounded_shell(result: ShellResult) -> ShellResult:
    code = result.exit_code
    return ShellResult(
        command=printable(str(result.command), 8192),
        exit_code=code if isinstance(code, int) and abs(code) < 1 << 31 else None,
        output=printable(str(result.output), 4000),
        seconds=bounded_seconds(result.seconds),
    )


def read_checks_report(folder: Path) -> ChecksReport:
    """``checks.json``; ``ClaimError`` without it. Needs memory of a multiple of its 64 MiB."""
    report = _parse(
        read_claim(folder, CHECKS_REPORT, CHECKS_BYTES), CHECKS_REPORT, ChecksReport.from_json
    )
    failure = report.setup_failed
    return replace(
        report,
        seconds=bounded_seconds(report.seconds),
        memory_kills=_bounded_count(report.memory_kills) or 0,
        setup_failed=None if failure is None else printable(str(failure), _REASON_CHARACTERS),
    )


def bounded_seconds(value: Any) -> float:
    """A duration in [0, 10⁷] seconds, whatever was written."""
    try:
        seconds = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return 0.0 if math.isnan(seconds) else min(max(seconds, 0.0), _MOST_SECONDS)


def _parse(data: bytes, name: str, read: Callable[[Any], T]) -> T:
    try:
        return read(json.loads(data))
    except (
        KeyError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
        MemoryError,
        ArithmeticError,
    ) as error:
        text = printable(f"{type(error).__name__}: {error}", 200)
        raise ClaimError(f"{name}: not readable: {text}") from error
