"""What the containers of a trial see, and where: as in the pod of a cluster (pure).

Hidden orders are a share of ``checks`` only: with checks in place the agent's container has a way
to ``loop``, which hands them over when the agent is gone. The agent's key and the gateway's socket
are shares of ``agent`` when it may ask models. ``grade`` and ``loop`` have no container: they run
nothing that an agent left.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proctor.api.container import SandboxUser
from proctor.api.quantity import amount
from proctor.local.engine import Container, Share
from proctor.local.places import TrialPlaces
from proctor.planning.model import Cell
from proctor.planning.reserved import (
    EVIDENCE,
    FILL_FOLDER,
    FROZEN,
    HANDSHAKE,
    HOME,
    ORDERS,
    PRIVATE,
    RUNNER,
    RUNNER_COMMAND,
    SCRATCH,
    TEMPORARY,
)

GATEWAY_URL = "http://127.0.0.1:61118"
"""Of the gateway in each container: a port of its own 127.0.0.1, which is all of its network."""

GATEWAY_SOCKET = f"{PRIVATE}/gateway.sock"
LOOP_SOCKET = "loop.sock"
"""Of ``loop``, in the folder that it has for it."""

_HANDOVER = f"{PRIVATE}/handover"


@dataclass(frozen=True, slots=True)
class Ground:
    """What containers need besides their trial's own.

    Args:
        runner: Folder of the runner's bundle.
        folder: Of the run.
        socket: That leads to the gateway: each attempt's own, so that no agent can use up the way
            of another one; None: it is not open yet.
        handover: Folder for the socket of ``loop``, each attempt's own; None: it has none.
    """

    runner: Path
    folder: Path
    socket: Path | None = None
    handover: Path | None = None


@dataclass(frozen=True, slots=True)
class Confined:
    """The container of one phase, but for its arguments."""

    name: str
    cell: Cell
    ground: Ground
    shares: tuple[Share, ...]
    folder: Path

    def container(
        self, phase: str, arguments: Sequence[str], variables: Mapping[str, str]
    ) -> Container:
        """The container, for an engine."""
        resources = self.cell.resources
        assert self.cell.image is not None
        assert resources.cpu is not None
        assert resources.memory is not None
        return Container(
            name=self.name,
            image=self.cell.image,
            command=(*RUNNER_COMMAND, phase, *arguments),
            shares=self.shares,
            folder=self.folder,
            owner=self.ground.folder,
            cpus=f"{amount(resources.cpu):f}",
            memory_bytes=int(amount(resources.memory)),
            image_user=self.cell.user is SandboxUser.IMAGE,
            variables=variables,
            passes_on=phase == "fill",
        )


@dataclass(frozen=True, slots=True)
class Sight:
    """Where a phase finds what lies at our places; without shares it runs among them."""

    shares: tuple[Share, ...] = field(default=())

    def __call__(self, path: Path) -> str:
        """The path, as the phase has to be told."""
        if not self.shares:
            return str(path)
        return next(share.target for share in self.shares if share.source == path)


Shares = Callable[[TrialPlaces, Cell, Ground], tuple[Share, ...]]


def passed(places: TrialPlaces, cell: Cell) -> tuple[tuple[Path, str], ...]:
    """Folders besides the workspace that pass from agent to checks, and where they are seen."""
    persisted = ((places.persisted(index), path) for index, path in enumerate(cell.persist))
    return ((places.home, HOME), *persisted)


def fill_shares(places: TrialPlaces, cell: Cell, ground: Ground) -> tuple[Share, ...]:
    """The workspace lies beside the image's folder, which it covers from then on."""
    return (Share(ground.runner, RUNNER), Share(places.workspace, FILL_FOLDER, writable=True))


def agent_shares(places: TrialPlaces, cell: Cell, ground: Ground) -> tuple[Share, ...]:
    """What the agent has, and its runner."""
    shares = [
        Share(ground.runner, RUNNER),
        Share(places.orders("agent"), f"{ORDERS}/agent/orders.json"),
        Share(places.workspace, cell.workspace, writable=True),
        *(Share(path, target, writable=True) for path, target in passed(places, cell)),
        Share(places.evidence("agent"), f"{EVIDENCE}/agent", writable=True),
        Share(places.temporary, TEMPORARY, writable=True),
    ]
    if cell.agent_asks_models and ground.socket is not None:
        shares += [
            Share(places.key, f"{PRIVATE}/agent/token"),
            Share(ground.socket, GATEWAY_SOCKET),
        ]
    if ground.handover is not None:
        shares += [
            Share(places.handshake, HANDSHAKE, writable=True),
            Share(ground.handover, _HANDOVER),
            Share(places.scratch, SCRATCH, writable=True),
        ]
    return tuple(shares)


def checks_shares(places: TrialPlaces, cell: Cell, ground: Ground) -> tuple[Share, ...]:
    """What checks have: copies to work in, and what the agent left to copy from."""
    frozen = [
        Share(places.frozen / path.name, f"{FROZEN}/{path.name}")
        for path in (places.workspace, *(path for path, _ in passed(places, cell)))
    ]
    return (
        Share(ground.runner, RUNNER),
        Share(places.orders("checks"), f"{ORDERS}/checks/orders.json"),
        *frozen,
        Share(places.workspace, cell.workspace, writable=True),
        *(Share(path, target, writable=True) for path, target in passed(places, cell)),
        Share(places.evidence("checks"), f"{EVIDENCE}/checks", writable=True),
        Share(places.scratch, SCRATCH, writable=True),
        Share(places.temporary, TEMPORARY, writable=True),
    )
