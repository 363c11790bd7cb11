"""What the supervisor writes about the cluster for the commands outside to read."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

STARTING = "starting"
READY = "ready"
FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the cluster is; ``ended`` has the exit codes of components that ended by now."""

    phase: str
    message: str = ""
    ended: dict[str, int] = field(default_factory=dict)

    @property
    def is_healthy(self) -> bool:
        """Say whether it is up with every component."""
        return self.phase == READY and not self.ended

    def save(self, path: Path) -> None:
        """Write in one step, so that a reader never sees half."""
        draft = path.with_suffix(".new")
        draft.write_text(json.dumps(asdict(self)))
        os.replace(draft, path)

    @classmethod
    def load(cls, path: Path) -> "Progress":
        """Read; a cluster that has said nothing yet is starting."""
        try:
            return cls(**json.loads(path.read_text()))
        except (FileNotFoundError, ValueError):
            return cls(STARTING)
