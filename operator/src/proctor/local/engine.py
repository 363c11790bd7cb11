"""The port to a container engine, such as podman: what it is asked for, as values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from proctor.api.errors import UserError


class EngineError(UserError):
    """The engine cannot do what is needed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Share:
    """A file, folder or socket of this machine in a container, at the path ``target``."""

    source: Path
    target: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Container:
    """One container: no network, no way to gain rights; as a rule no capabilities, and never root.

    Args:
        name: Of no other container.
        image: One that the engine has.
        command: Program and arguments, in place of the image's.
        shares: What it sees of this machine; nothing else of it is there.
        folder: Of this machine: a folder that is its own and that it does not see.
        owner: The folder of its run.
        cpus: Limit, a decimal number.
        memory_bytes: Limit; there is no swap beyond it.
        variables: Of its environment, beside the image's; may be secrets.
        image_user: It runs as what its image says, and as root with root's rights over files.
            What it leaves in its shares is this user's to read and to remove when it has ended.
        passes_on: What it leaves stays as it is for the next container, if it ends well.
    """

    name: str
    image: str
    command: tuple[str, ...]
    shares: tuple[Share, ...]
    folder: Path
    owner: Path
    cpus: str
    memory_bytes: int
    variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    image_user: bool = False
    passes_on: bool = False


@dataclass(frozen=True, slots=True)
class ContainerEnd:
    """How a container ended.

    Args:
        exit_code: Above 128: a signal ended it. None: it never started; its log says why.
        out_of_memory: The kernel killed something in it for its memory limit.
        timed_out: It was ended after its time.
    """

    exit_code: int | None
    out_of_memory: bool = False
    timed_out: bool = False


class Engine(Protocol):
    """Runs containers. None is left when a call has ended, or when this process was killed."""

    @property
    def name(self) -> str:
        """What the user calls it."""

    def image_id(self, reference: str) -> str | None:
        """Id of an image that is here; None when it is not. Nothing is ever fetched."""

    def copy_out(self, image: str, path: str, target: Path, owner: Path) -> None:
        """Copy a folder of an image to ``target``, which must not exist.

        ``owner``: a folder that this process holds the lock of, as with containers.

        Raises:
            EngineError: When the image has no such folder, or it cannot be copied.
        """

    async def run(self, container: Container, log: Path, timeout_seconds: float) -> ContainerEnd:
        """Run a container to its end; what it prints is added to ``log``.

        Cancelled, it asks the container to end and returns when nothing of it is left.

        Raises:
            EngineError: When how it ended is not known.
        """

    def kill(self) -> None:
        """End all running containers at once, without a chance to write anything."""

    def owners(self) -> Mapping[str, Path]:
        """Containers of this user that exist, whichever process made them: name → their owner.

        Those of another boot, and of processes that see other folders, are left out: nobody here
        can tell whether their folder is in use.

        Raises:
            EngineError: When it does not answer.
        """

    def remove(self, names: Sequence[str]) -> None:
        """Kill and remove containers; one that is gone already is no error."""
