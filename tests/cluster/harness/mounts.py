"""The cluster's own view of the file system; runs inside its mount namespace.

/run, /var/lib and /var/log are the cluster's own, so its components use their usual paths and
leave nothing in the host's. The kernel settings that the kubelet insists on writing are host-wide;
it gets files to write instead.
"""

import subprocess
from pathlib import Path

from cluster.harness.errors import HarnessError
from cluster.harness.paths import State

WRITTEN_BY_KUBELET = (
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
)


def set_up_mounts(state: State) -> None:
    """Lay the cluster's folders over the host's, and files over host-wide kernel settings."""
    _mount("--make-rshared", "/")
    _mount("--bind", str(state.var_lib), "/var/lib")
    _mount("--bind", str(state.var_log), "/var/log")
    _mount("-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")
    for name in WRITTEN_BY_KUBELET:
        setting = Path("/proc/sys") / name
        if setting.exists():
            stand_in = Path("/run/sysctl") / name
            stand_in.parent.mkdir(parents=True, exist_ok=True)
            stand_in.write_text(setting.read_text())
            _mount("--bind", str(stand_in), str(setting))


def _mount(*arguments: str) -> None:
    done = subprocess.run(["mount", *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise HarnessError(f"mount {' '.join(arguments)} failed: {done.stderr.strip()}")
