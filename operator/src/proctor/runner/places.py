"""Where a phase finds what it works on: its arguments, as values."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from proctor.api.errors import PlatformError
from proctor.api.orders import ORDERS_VERSION, TrialRef
from proctor.api.report import EXIT_NOT_STARTED

if TYPE_CHECKING:
    from proctor.runner.fetch_places import FetchPlaces

Address = tuple[str, int]
"""Host and port."""

LoopAddress: TypeAlias = "int | Path"
"""Of ``loop``: a port of this pod's 127.0.0.1, or a socket where there is no common network."""


class NotStartedError(PlatformError):
    """A phase failed before any code of the task or the agent ran in it."""

    exit_code = EXIT_NOT_STARTED


@dataclass(frozen=True, slots=True)
class Proof:
    """What to prove of the pod's network.

    Args:
        reach: The gateway's port for trials.
        shun: Its canary.
        required: Whether an open network ends the attempt; it is only reported otherwise.
    """

    reach: Address
    shun: Address
    required: bool


@dataclass(frozen=True, slots=True)
class EgressAccess:
    """The egress proxy's URL, and the file with the pass that it asks for."""

    url: str
    pass_file: Path

    @property
    def given_pass(self) -> str:
        """The pass; OSError when it cannot be read."""
        return self.pass_file.read_text().strip()


@dataclass(frozen=True, slots=True)
class StagePlaces:
    """For ``stage``.

    Args:
        source: None: the runtime that this process runs from.
        proof: None: the network is as it is.
        finding: File that takes what came of the proof.
        fetch: A repository to fetch then; None: none.
    """

    target: Path
    source: Path | None = None
    proof: Proof | None = None
    finding: Path | None = None
    fetch: "FetchPlaces | None" = None


@dataclass(frozen=True, slots=True)
class FillPlaces:
    """For ``fill``: a folder of the image, and the workspace."""

    source: Path
    target: Path


@dataclass(frozen=True, slots=True)
class AgentPlaces:
    """For ``agent``; ``gateway`` and ``key_file`` are None when no model may be asked.

    ``filled``: the workspace is not empty, ``fill`` has made it. ``fetched``: folder of a fetched
    repository, which is copied into it. ``gateway_socket``: the way to the gateway where there is
    no network; ``gateway`` is then a port of this container's own.
    """

    orders: Path
    workspace: Path
    home: Path
    evidence: Path
    persist: tuple[Path, ...] = ()
    filled: bool = False
    fetched: Path | None = None
    in_place: "InPlace | None" = None
    gateway: str | None = None
    gateway_socket: Path | None = None
    key_file: Path | None = None
    egress: EgressAccess | None = None


@dataclass(frozen=True, slots=True)
class InPlace:
    """For ``agent`` when the checks run in its own container, once nothing of the agent is left.

    Args:
        loop: Where it is asked.
        handshake: Folder with the one-time secret.
        scratch: Folder for hidden files, unused until then.
    """

    loop: LoopAddress
    handshake: Path
    scratch: Path


@dataclass(frozen=True, slots=True)
class LoopPlaces:
    """For ``loop``. ``kept``: its own folder; ``handshake``: shared with ``agent``.

    ``at``: where it is asked. ``pass_file`` as in ``GradePlaces``.
    """

    orders: Path
    workspace: Path
    kept: Path
    handshake: Path
    at: LoopAddress
    pass_file: Path | None = None


@dataclass(frozen=True, slots=True)
class ChecksPlaces:
    """For ``checks``. ``frozen``: further folders to copy, as (from, to); HOME is one of them.

    ``frozen_workspace`` None: in place, in what the agent left, without a copy.
    """

    orders: Path
    frozen_workspace: Path | None
    workspace: Path
    home: Path
    evidence: Path
    scratch: Path
    frozen: tuple[tuple[Path, Path], ...] = ()
    egress: EgressAccess | None = None


@dataclass(frozen=True, slots=True)
class ResultsPlace:
    """A results server: where, whose token, and for how long to try."""

    url: str
    token_file: Path
    seconds: float


@dataclass(frozen=True, slots=True)
class GradePlaces:
    """For ``grade``. ``workspace`` is the frozen one; ``record`` is made and must be unused.

    ``kept`` is the folder of ``loop``: the workspace that it set aside goes before ``workspace``.
    ``results`` None: the record stays where it is. ``fetched``: what its notes say is recorded.
    ``pass_file`` holds the trial's pass for the egress proxy, which is taken out of what is kept;
    None: it has none.
    """

    orders: Path
    workspace: Path
    agent_evidence: Path
    verdict: Path
    record: Path
    trial: TrialRef
    checks_evidence: Path | None = None
    kept: Path | None = None
    fetched: Path | None = None
    gateway: str | None = None
    key_file: Path | None = None
    results: ResultsPlace | None = None
    pass_file: Path | None = None


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
    """The bearer key, or the pass, in a file; None without one."""
    return None if path is None else path.read_text().strip()
