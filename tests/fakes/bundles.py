"""The port ``Bundles`` in memory."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from proctor.api.errors import PlatformError
from proctor.api.task import Task
from proctor.planning.bundle import packed


@dataclass
class FakeBundles:
    """Holds bundles by namespace and digest.

    Args:
        failure: Why nothing can be told now; None: it can.
    """

    failure: str | None = None
    _held: dict[tuple[str, str], Mapping[str, bytes]] = field(default_factory=dict)

    async def push(self, namespace: str, tasks: Sequence[Task]) -> str:
        """As `proctor push` does; the digest."""
        bundle = packed(tasks)
        self._held[namespace, f"sha256:{bundle.digest}"] = bundle.parts
        return f"sha256:{bundle.digest}"

    def hold(self, namespace: str, digest: str, parts: Mapping[str, bytes]) -> None:
        """Under a digest that may be another's: what an older version took, a newer one refuses."""
        self._held[namespace, digest] = parts

    def lose(self) -> None:
        """A volume that went with its pod."""
        self._held.clear()

    async def parts(self, namespace: str, digest: str) -> Mapping[str, bytes] | None:
        if self.failure is not None:
            raise PlatformError(self.failure)
        return self._held.get((namespace, digest))
