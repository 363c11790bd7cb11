"""Process 1 of the cluster's namespaces: starts the components, then reaps whatever ends.

Its death ends the cluster, as the kernel ends all processes of a PID namespace with process 1.
It restarts nothing: a component that ends is a finding, and ``status`` shows it.
"""

import os
import resource
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from cluster.harness import components, layout, mounts, network
from cluster.harness.api import Api, wait_until
from cluster.harness.components import Component
from cluster.harness.errors import HarnessError
from cluster.harness.manifests import first_objects
from cluster.harness.paths import State
from cluster.harness.progress import FAILED, READY, Progress

START_SECONDS = 120.0
LOG_TAIL_LINES = 15


def supervise(state: State, binaries: Mapping[str, Path], extras: Sequence[str]) -> int:
    """Run the cluster until killed; returns only when it could not start."""
    running: dict[str, subprocess.Popen[bytes]] = {}
    try:
        mounts.set_up_mounts(state)
        network.set_up_network()
        _start_cluster(binaries, extras, running)
    except (HarnessError, OSError) as error:
        Progress(FAILED, str(error)).save(state.progress)
        return 1
    Progress(READY).save(state.progress)
    _reap({process.pid: name for name, process in running.items()}, state)
    return 1


def _start_cluster(
    binaries: Mapping[str, Path],
    extras: Sequence[str],
    running: dict[str, subprocess.Popen[bytes]],
) -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    environment = component_environment(binaries)

    def start(group: Iterable[Component]) -> None:
        for component in group:
            running[component.name] = _start(component, environment)

    def check() -> None:
        for name, process in running.items():
            if process.poll() is not None:
                raise HarnessError(f"{name} ended with {process.returncode}:\n{log_tail(name)}")

    start(components.runtime_components(binaries))
    api = Api(Path(layout.PKI))
    wait_until(api.is_ready, "API server ready", START_SECONDS, check)
    for path, body in first_objects():
        api.create(path, body)
    socket = Path(layout.CONTAINERD_SOCKET)
    wait_until(socket.exists, "containerd's socket", START_SECONDS, check)
    start(components.api_components(binaries))
    wait_until(api.node_is_ready, "node Ready", START_SECONDS, check)
    start(components.optional_components(binaries, extras))
    wait_until(api.has_default_account, "default ServiceAccount", START_SECONDS, check)


def component_environment(binaries: Mapping[str, Path]) -> dict[str, str]:
    """Environment of the components: no proxy settings, no credentials, no person's PATH."""
    folders = dict.fromkeys(str(path.parent) for path in binaries.values())
    return {
        "PATH": ":".join([*folders, "/usr/sbin", "/usr/bin", "/sbin", "/bin"]),
        "HOME": "/var/lib/cluster",
        "TMPDIR": "/run",
    }


def log_tail(name: str) -> str:
    """Last lines of a component's log."""
    lines = Path(layout.LOG, f"{name}.log").read_text(errors="replace").splitlines()
    return "\n".join(lines[-LOG_TAIL_LINES:])


def _start(component: Component, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with Path(layout.LOG, f"{component.name}.log").open("ab") as log:
        return subprocess.Popen(
            component.argv,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd="/",
            start_new_session=True,
        )


def _reap(names: Mapping[int, str], state: State) -> None:
    ended: dict[str, int] = {}
    while True:
        try:
            pid, status = os.wait()
        except ChildProcessError:
            return
        if pid in names:
            ended[names[pid]] = os.waitstatus_to_exitcode(status)
            Progress(READY, ended=dict(ended)).save(state.progress)
