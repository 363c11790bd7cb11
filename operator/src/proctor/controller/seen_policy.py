"""What is kept of a NetworkPolicy, ours or somebody else's."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from proctor.controller.cluster import Body
from proctor.controller.seen import Identity, RunKey


@dataclass(frozen=True, slots=True)
class SeenPolicy:
    """A NetworkPolicy."""

    identity: Identity
    spec: Mapping[str, Any]

    @classmethod
    def from_body(cls, body: Body) -> Self:
        """Read one."""
        return cls(Identity.from_body(body), body.get("spec") or {})


def place_of(namespace: str) -> RunKey:
    """Where a mirror, which keeps objects by run, keeps what belongs to a whole namespace."""
    return RunKey(namespace, "")
