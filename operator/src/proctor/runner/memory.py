"""Watches the container's memory: a greedy child is killed before the kernel kills all of it.

With cgroup v2 the kubelet sets ``memory.oom.group``: one greedy compiler ends PID 1 as well, and
transcript and workspace are lost with it.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from proctor.runner.processes import Process, list_processes

_SHARE = 0.95
_FILLING = 0.7
_PAUSE_SECONDS = 0.1
_FILLING_PAUSE_SECONDS = 0.01
_ROOT = Path("/sys/fs/cgroup")
_NO_LIMIT_BYTES = 1 << 60  # v1 writes a huge number where there is no limit


@dataclass(frozen=True, slots=True)
class Memory:
    """What a container may use and uses, in bytes; what the kernel can take back not counted."""

    limit: int
    used: int

    @property
    def is_short(self) -> bool:
        """Whether 95 % of the limit are used."""
        return self.used >= self.limit * _SHARE

    @property
    def is_filling(self) -> bool:
        """Whether it is time to look more often."""
        return self.used >= self.limit * _FILLING


def read_memory(root: Path = _ROOT) -> Memory | None:
    """The container's memory from its cgroup, v2 or v1; None where there is no limit."""
    v1 = root / "memory"
    try:
        if (root / "memory.max").exists():
            limit = (root / "memory.max").read_text().strip()
            if limit == "max":
                return None
            stat = _stat(root / "memory.stat")
            used = int((root / "memory.current").read_text())
            return Memory(int(limit), used - stat["inactive_file"] - stat["active_file"])
        bytes_ = int((v1 / "memory.limit_in_bytes").read_text())
        if bytes_ >= _NO_LIMIT_BYTES:
            return None
        stat = _stat(v1 / "memory.stat")
        used = int((v1 / "memory.usage_in_bytes").read_text())
        return Memory(bytes_, used - stat["total_inactive_file"] - stat["total_active_file"])
    except (OSError, ValueError, KeyError):
        return None


def _stat(path: Path) -> Mapping[str, int]:
    lines = (line.split() for line in path.read_text().splitlines())
    return {fields[0]: int(fields[1]) for fields in lines if len(fields) == 2}


def largest_group(processes: Iterable[Process], own_group: int) -> tuple[Process, ...]:
    """The live processes of the group that holds most memory; empty when there is only ours."""
    groups: dict[int, list[Process]] = {}
    for process in processes:
        if process.group != own_group and not process.zombie:
            groups.setdefault(process.group, []).append(process)
    return tuple(max(groups.values(), key=_resident, default=[]))


def _resident(processes: Iterable[Process]) -> int:
    return sum(process.resident_pages for process in processes)


class MemoryWatch:
    """Kills the largest process group whenever memory gets short; ``kills`` counts them."""

    def __init__(self) -> None:
        self.kills = 0

    def start(self) -> None:
        """Watch in the background until the process ends; only PID 1 of a limited container."""
        if os.getpid() == 1 and read_memory() is not None:
            threading.Thread(target=self._watch, name="memory", daemon=True).start()

    def _watch(self) -> None:
        pause = threading.Event()
        while True:
            memory = read_memory()
            if memory is not None and memory.is_short:
                self._kill()
            elif memory is not None and memory.is_filling:
                pause.wait(_FILLING_PAUSE_SECONDS)
                continue
            pause.wait(_PAUSE_SECONDS)  # after a kill: until its memory is back

    def _kill(self) -> None:
        group = largest_group(list_processes(), os.getpgrp())
        for process in group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process.pid, signal.SIGKILL)
        self.kills += bool(group)
