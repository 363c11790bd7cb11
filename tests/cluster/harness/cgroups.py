"""The cgroup below which a cluster's pods live: one folder of one name in every hierarchy."""

import time
from collections.abc import Iterator
from pathlib import Path

from cluster.harness.errors import HarnessError

CGROUP_ROOT = Path("/sys/fs/cgroup")
NEEDED_ON_V2 = frozenset({"cpu", "cpuset", "memory", "pids"})
CPUSET_FILES = ("cpuset.cpus", "cpuset.mems")


def hierarchies(root: Path = CGROUP_ROOT) -> list[Path]:
    """Top folder of each hierarchy: the root itself on cgroup v2, one for each controller on v1."""
    if (root / "cgroup.controllers").exists():
        return [root]
    return sorted(top for top in root.iterdir() if top.is_dir() and not top.is_symlink())


def create(name: str, root: Path = CGROUP_ROOT) -> None:
    """Make the cgroup; on v2 the top must hand its controllers down, on v1 cpuset needs values."""
    for top in hierarchies(root):
        folder = top / name
        folder.mkdir(exist_ok=True)
        if top == root:
            _hand_down_controllers(root)
        for file in CPUSET_FILES:
            if top != root and (top / file).exists():
                (folder / file).write_text((top / file).read_text())


def _hand_down_controllers(root: Path) -> None:
    handed_down = root / "cgroup.subtree_control"
    missing = NEEDED_ON_V2 - set(handed_down.read_text().split())
    for controller in sorted(missing):
        try:
            handed_down.write_text(f"+{controller}")
        except OSError as error:
            raise HarnessError(
                f"controller {controller} of {root} cannot be used: {error.strerror}; a container "
                "needs the host's cgroup namespace (docker run --cgroupns=host)"
            ) from error


def remove(name: str, wait_seconds: float = 10.0, root: Path = CGROUP_ROOT) -> list[Path]:
    """Remove the cgroup and all below it; returns what is left because processes are in it."""
    deadline = time.monotonic() + wait_seconds
    while left := [top / name for top in hierarchies(root) if not _remove_tree(top / name)]:
        if time.monotonic() > deadline:
            return left
        time.sleep(0.05)
    return []


def _remove_tree(folder: Path) -> bool:
    for group in _deepest_first(folder):
        try:
            group.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return False
    return True


def _deepest_first(folder: Path) -> Iterator[Path]:
    if not folder.is_dir():
        return
    for child in folder.iterdir():
        if child.is_dir():
            yield from _deepest_first(child)
    yield folder
