"""What a cluster could leave on the host, to compare before and after; reads, never writes.

Other clusters and tests may run meanwhile: what belongs to a PID namespace that existed before is
theirs, and a new one is this cluster's only when something in it is known to be a component.
Loaded kernel modules are not compared: the kernel loads some on use, and they stay.
"""

import fcntl
import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from cluster.harness import cgroups
from cluster.harness.paths import State

FOLDERS = ("/run", "/var/lib", "/var/log", "/etc", "/opt", "/usr/libexec")
NOT_OURS = (
    "/var/lib/apt",
    "/var/lib/dpkg",
    "/var/lib/containers",
    "/run/containers",
    "/run/libpod",
)
COMPONENTS = (b"kube", b"etcd", b"containerd", b"coredns", b"pause", b"harness")
RUNTIME_CGROUPS = ("kubepods", "k8s.io")
MOUNTS = ("/run/", "/var/", "/proc/", "/sys/")
SETTINGS = ("kernel", "vm", "fs", "net")
VOLATILE = (
    *("kernel/random", "kernel/ns_last_pid", "kernel/pty/nr", "fs/dentry-state", "fs/file-nr"),
    *("fs/inode-nr", "fs/inode-state", "fs/aio-nr", "fs/quota", "net/netfilter/nf_conntrack_count"),
)
NS_GET_PARENT = 0xB702  # linux/nsfs.h; EPERM at this process's own
NAMESPACES = ("cgroup", "ipc", "mnt", "net", "pid", "uts")


@dataclass(frozen=True, slots=True)
class Footprint:
    """Each field is a set of lines that name one thing each."""

    processes: frozenset[str]
    namespaces: frozenset[str]
    mounts: frozenset[str]
    cgroups: frozenset[str]
    links: frozenset[str]
    settings: frozenset[str]
    files: frozenset[str]

    def left_since(self, before: "Footprint") -> dict[str, list[str]]:
        """What is here now and was not, or is changed; empty when nothing was left."""
        left = {
            field.name: sorted(getattr(self, field.name) - getattr(before, field.name))
            for field in fields(self)
        }
        return {name: lines for name, lines in left.items() if lines}


def take_footprint(state: Path, others: frozenset[str] = frozenset()) -> Footprint:
    """Look at the whole host.

    Args:
        state: The cluster's state folder; a process that names it is the cluster's.
        others: PID namespaces of other clusters, from ``other_clusters`` before the start.
    """
    processes = _processes(state, others)
    return Footprint(
        processes=frozenset(line for line, _ in processes),
        namespaces=frozenset(name for _, names in processes for name in names),
        mounts=frozenset(_mounts((str(state), *MOUNTS))),
        cgroups=frozenset(
            str(top / name)
            for top in cgroups.hierarchies()
            for name in (State(state).cgroup, *RUNTIME_CGROUPS)
            if (top / name).is_dir()
        ),
        links=frozenset(os.listdir("/sys/class/net")),
        settings=frozenset(_settings()),
        files=frozenset(str(path) for folder in FOLDERS for path in _files(Path(folder))),
    )


def other_clusters() -> frozenset[str]:
    """PID namespaces that exist now, besides this process's own."""
    return frozenset(_namespace(pid, "pid") for pid in _pids()) - {_namespace("self", "pid"), ""}


def _processes(state: Path, others: frozenset[str]) -> list[tuple[str, list[str]]]:
    """Processes of the cluster: pairs of a line that tells one, and its namespaces."""
    found = []
    home = _namespace("self", "pid")
    signs = (os.fsencode(state), State(state).cgroup.encode())
    for pid in _pids():
        own = _namespace(pid, "pid")
        if not own or others.intersection(_pid_namespaces(pid)):
            continue
        command = _read(Path("/proc", pid, "cmdline"))
        words = command + _read(Path("/proc", pid, "environ")) + _read(Path("/proc", pid, "cgroup"))
        is_cluster = any(sign in words for sign in signs) or (
            own != home and any(name in command for name in COMPONENTS)
        )
        if is_cluster:
            found.append((f"{pid} {command!r}", [_namespace(pid, kind) for kind in NAMESPACES]))
    return found


def _pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit() and name != str(os.getpid())]


def _namespace(pid: str, kind: str) -> str:
    try:
        return os.readlink(f"/proc/{pid}/ns/{kind}")
    except OSError:
        return ""


def _pid_namespaces(pid: str) -> list[str]:
    """The PID namespace of a process and those around it: a pod's own is inside its cluster's."""
    found = []
    try:
        namespace = os.open(f"/proc/{pid}/ns/pid", os.O_RDONLY)
    except OSError:
        return []
    while True:
        found.append(f"pid:[{os.fstat(namespace).st_ino}]")
        try:
            parent = fcntl.ioctl(namespace, NS_GET_PARENT)
        except OSError:
            return found
        finally:
            os.close(namespace)
        namespace = parent


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _mounts(below: tuple[str, ...]) -> Iterator[str]:
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        point = line.split()[4]
        if point.startswith(below) and not point.startswith(NOT_OURS):
            yield line


def _settings() -> Iterator[str]:
    root = Path("/proc/sys")
    for folder in SETTINGS:
        for path in _files(root / folder):
            name = str(path.relative_to(root))
            if path.is_file() and not name.startswith(VOLATILE):
                yield f"{name} = {_read(path).decode(errors='replace').strip()}"


def _files(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if str(Path(parent, name)) not in NOT_OURS]
        yield from (Path(parent, name) for name in [*folders, *files])
