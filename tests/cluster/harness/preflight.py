"""What has to be true of the machine before a cluster starts; each error says what to do."""

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from cluster.harness import layout
from cluster.harness.errors import HarnessError
from cluster.harness.paths import STATE_VARIABLE, State

CAPABILITIES = {
    "CAP_KILL": 5,
    "CAP_NET_ADMIN": 12,
    "CAP_NET_RAW": 13,
    "CAP_SYS_CHROOT": 18,
    "CAP_SYS_PTRACE": 19,
    "CAP_SYS_ADMIN": 21,
    "CAP_MKNOD": 27,
}
TOOLS = ("containerd", "conntrack", "ctr", "ip", "iptables", "mount", "nsenter", "openssl", "runc")
OLDEST_KERNEL = (4, 19)
HIDDEN_FOLDERS = ("/run", "/var/lib", "/var/log", "/proc", "/sys")


def check_machine(state: State) -> None:
    """Find the first thing that would keep a cluster from starting.

    Raises:
        HarnessError: names it and the remedy.
    """
    require_root(os.geteuid())
    require_capabilities(Path("/proc/self/status").read_text())
    require_kernel(os.uname().release)
    require_tools(lambda tool: shutil.which(tool, path=search_path()))
    require_visible(state)
    if "overlay" not in Path("/proc/filesystems").read_text():
        raise HarnessError("this kernel has no overlay file system; try `modprobe overlay`")
    if not Path("/sys/fs/cgroup").is_mount():
        raise HarnessError("no cgroups at /sys/fs/cgroup; mount cgroup2 there first")


def search_path() -> str:
    """PATH with the folders of system tools, which a person's own may lack."""
    return f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin:/sbin:/bin"


def require_root(euid: int) -> None:
    """Refuse anybody but root."""
    if euid != 0:
        raise HarnessError(f"the test cluster needs root, this is user {euid}; use sudo")


def require_capabilities(status: str) -> None:
    """Refuse a root whose effective set, in /proc/PID/status, lacks one that is needed."""
    found = re.search(r"^CapEff:\s*([0-9a-f]+)$", status, re.MULTILINE)
    held = int(found[1], 16) if found else 0
    missing = [name for name, bit in CAPABILITIES.items() if not held >> bit & 1]
    if missing:
        raise HarnessError(
            f"root lacks {', '.join(missing)} (effective set {held:#x}); "
            "give them to the container, for instance with --privileged"
        )


def require_kernel(release: str) -> None:
    """Refuse a kernel older than Kubernetes 1.34 supports."""
    numbers = re.match(r"(\d+)\.(\d+)", release)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_KERNEL:
        oldest = ".".join(map(str, OLDEST_KERNEL))
        raise HarnessError(f"kernel {release} is older than {oldest}; boot a newer one")


def require_tools(find: Callable[[str], str | None]) -> None:
    """Refuse when a program that the cluster runs is not installed."""
    missing = [tool for tool in TOOLS if find(tool) is None]
    if not Path(layout.CNI_PLUGINS, "bridge").exists():
        missing.append(f"{layout.CNI_PLUGINS}/bridge")
    if missing:
        raise HarnessError(f"not installed: {', '.join(missing)}; run `install`")


def require_visible(state: State) -> None:
    """Refuse a state folder that the cluster's own mounts would hide from it."""
    for folder in HIDDEN_FOLDERS:
        if state.root.resolve().is_relative_to(folder):
            raise HarnessError(
                f"state folder {state.root} is below {folder}, which the cluster replaces by its "
                f"own; set {STATE_VARIABLE} to a folder elsewhere"
            )
