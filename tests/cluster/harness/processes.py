"""Processes named so that a reused pid is never mistaken for ours: pid and start time."""

import json
import os
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process for all time: ``started`` counts clock ticks since boot."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> "ProcessId | None":
        """Identify a running process; ``None`` when there is none, or only its zombie."""
        fields = stat_fields(pid)
        if fields is None or fields[0] in ("Z", "X"):
            return None
        return cls(pid, int(fields[19]))

    def is_alive(self) -> bool:
        """Say whether this very process still runs."""
        return ProcessId.of(self.pid) == self

    def kill(self, wait_seconds: float = 10.0) -> bool:
        """End this very process at once; ``False`` when it still runs after the wait."""
        if self.is_alive():
            os.kill(self.pid, signal.SIGKILL)
        deadline = time.monotonic() + wait_seconds
        while self.is_alive() and time.monotonic() < deadline:
            time.sleep(0.02)
        return not self.is_alive()

    def children(self) -> list["ProcessId"]:
        """Direct children, by the parent pid that each process tells."""
        found = []
        for entry in PROC.iterdir():
            fields = stat_fields(int(entry.name)) if entry.name.isdigit() else None
            if fields is not None and int(fields[1]) == self.pid:
                found.append(ProcessId(int(entry.name), int(fields[19])))
        return found

    def save(self, path: Path) -> None:
        """Write this identity as JSON."""
        path.write_text(json.dumps(asdict(self)))

    @classmethod
    def load(cls, path: Path) -> "ProcessId | None":
        """Read an identity; ``None`` when the file is absent or was cut short by a crash."""
        try:
            return cls(**json.loads(path.read_text()))
        except (FileNotFoundError, ValueError, TypeError):
            return None


def stat_fields(pid: int) -> list[str] | None:
    """Fields of /proc/PID/stat from the third, the state, on; ``None`` without such a process."""
    try:
        text = (PROC / str(pid) / "stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return text.rpartition(")")[2].split()
