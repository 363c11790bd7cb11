"""Starting the supervisor in namespaces of its own, and running commands in them.

``unshare`` waits outside with the pid that is saved; its one child is process 1 inside. The death
of either ends the other and the whole cluster.
"""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from cluster.harness.errors import HarnessError
from cluster.harness.foreign import OURS_VARIABLE
from cluster.harness.paths import State
from cluster.harness.processes import ProcessId

UNSHARE = (
    *("unshare", "--net", "--mount", "--propagation", "private"),
    *("--pid", "--fork", "--kill-child", "--mount-proc"),
)
PACKAGE = Path(__file__).resolve().parent


def spawn_supervisor(state: State, extras: Sequence[str] = ()) -> ProcessId:
    """Start the supervisor, detached from this process; its identity is saved at once."""
    log = state.logs / "supervisor.log"
    options = [f"--with={name}" for name in extras]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*UNSHARE, sys.executable, str(PACKAGE), "supervise", *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd="/",
            start_new_session=True,
        )
    identity = ProcessId.of(process.pid)
    if identity is None:
        raise HarnessError(f"the supervisor ended at once: {log.read_text().strip()}")
    identity.save(state.supervisor)
    return identity


def init_process(state: State) -> ProcessId:
    """Process 1 of the running cluster, as the host numbers it.

    Raises:
        HarnessError: no cluster is running.
    """
    supervisor = ProcessId.load(state.supervisor)
    children = supervisor.children() if supervisor and supervisor.is_alive() else []
    if not children:
        raise HarnessError(f"no cluster is running with state {state.root}; start one with `up`")
    return children[0]


def in_network(state: State, command: Sequence[str]) -> list[str]:
    """Command line that runs ``command`` in the cluster's network, with the host's files."""
    return ["nsenter", f"--net=/proc/{init_process(state).pid}/ns/net", "--", *command]


def inside(state: State, command: Sequence[str]) -> list[str]:
    """Command line that runs ``command`` as one of the cluster's own processes."""
    target = str(init_process(state).pid)
    return ["nsenter", "--target", target, "--net", "--mount", "--pid", "--", *command]


def environment(state: State, clients: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Environment of a command that uses the cluster; clients write below the state folder."""
    helm = {f"HELM_{kind}_HOME": f"{state.home}/helm" for kind in ("CACHE", "CONFIG", "DATA")}
    return {
        **environ,
        **helm,
        "KUBECACHEDIR": f"{state.home}/kubectl",
        "KUBECONFIG": str(state.kubeconfig),
        OURS_VARIABLE: "ours",
        "PATH": f"{clients}:{environ.get('PATH', '')}",
    }


def replace_process(argv: Sequence[str], environment: dict[str, str]) -> int:
    """Become ``argv``; its exit code and signals are then this process's own."""
    try:
        os.execvpe(argv[0], list(argv), environment)
    except FileNotFoundError:
        raise HarnessError(
            f"{argv[0]} is not on PATH; install it, or run `install` and `build`"
        ) from None
