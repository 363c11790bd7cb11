"""Where a phase finds what it works on: its arguments, as values."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.api.errors import PlatformError
from proctor.api.orders import ORDERS_VERSION, TrialRef


class NotStartedError(PlatformError):
    """A phase failed before any code of the task or the agent ran in it."""


@dataclass(frozen=True, slots=True)
class StagePlaces:
    """For ``stage``. ``source`` None: the runtime that this process runs from."""

    target: Path
    source: Path | None = None


@dataclass(frozen=True, slots=True)
class AgentPlaces:
    """For ``agent``; ``gateway`` and ``key_file`` are None when no model may be asked."""

    orders: Path
    workspace: Path
    home: Path
    evidence: Path
    persist: tuple[Path, ...] = ()
    gateway: str | None = None
    key_file: Path | None = None


@dataclass(frozen=True, slots=True)
class ChecksPlaces:
    """For ``checks``. ``frozen``: further folders to copy, as (from, to); HOME is one of them."""

    orders: Path
    frozen_workspace: Path
    workspace: Path
    home: Path
    evidence: Path
    scratch: Path
    frozen: tuple[tuple[Path, Path], ...] = ()


@dataclass(frozen=True, slots=True)
class ResultsPlace:
    """A results server: where, whose token, and for how long to try."""

    url: str
    token_file: Path
    seconds: float


@dataclass(frozen=True, slots=True)
class GradePlaces:
    """For ``grade``. ``workspace`` is the frozen one; ``record`` is made and must be unused.

    ``results`` None: the record stays where it is.
    """

    orders: Path
    workspace: Path
    agent_evidence: Path
    verdict: Path
    record: Path
    trial: TrialRef
    checks_evidence: Path | None = None
    gateway: str | None = None
    key_file: Path | None = None
    results: ResultsPlace | None = None


def read_orders(path: Path) -> dict[str, Any]:
    """The orders in a file.

    Raises:
        PlatformError: When it is not a JSON object of the version that this runner knows.
    """
    try:
        body = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise PlatformError(f"orders {path}: {error}") from error
    version = body.get("version") if isinstance(body, dict) else None
    if version != ORDERS_VERSION:
        raise PlatformError(
            f"orders {path}: version {version!r}; this runner reads {ORDERS_VERSION}"
        )
    return dict(body)


def read_key(path: Path | None) -> str | None:
    """The bearer key in a file, or None without one."""
    return None if path is None else path.read_text().strip()
