"""Life of the cluster as seen from the host: up, down, status."""

import fcntl
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from cluster.harness import cgroups, configs, images, layout, namespaces, pki
from cluster.harness.binaries import Report, find_binaries, sets_with
from cluster.harness.errors import HarnessError
from cluster.harness.paths import State
from cluster.harness.preflight import check_machine
from cluster.harness.processes import ProcessId
from cluster.harness.progress import FAILED, READY, STARTING, Progress

KWOK_STAGES = Path(__file__).resolve().parent / "kwok.yaml"
UP_SECONDS = 300.0
KUBECONFIGS = (
    *("admin", "kube-controller-manager", "kube-scheduler"),
    *("kube-proxy", "kubelet", "coredns"),
)


def up(state: State, cache: Path, extras: Sequence[str], report: Report) -> None:
    """Start the cluster; a healthy one stays as it is, a broken one is replaced."""
    check_machine(state)
    binaries = find_binaries(sets_with(extras), cache)
    with exclusive(cache):
        progress = current(state)
        if progress is not None and progress.is_healthy:
            require_extras(state, extras)
            report(f"already up: {state.root}")
            return
        if state.root.exists():
            report("cleaning up after a cluster that did not end in order")
            remove(state)
        begin = time.monotonic()
        prepare(state)
        namespaces.spawn_supervisor(state, extras)
        wait_for_start(state)
        images.load_pause(state, binaries["pause"])
        report(f"up after {time.monotonic() - begin:.1f} s: {state.kubeconfig}")


def require_extras(state: State, extras: Sequence[str]) -> None:
    """Refuse a running cluster that lacks an optional component."""
    missing = [name for name in extras if not (state.logs / f"{name}.log").exists()]
    if missing:
        raise HarnessError(
            f"the cluster {state.root} runs without {', '.join(missing)}; run `down` first"
        )


def down(state: State, cache: Path, report: Report) -> None:
    """End the cluster and remove all that it left; fine when there is none."""
    cache.mkdir(parents=True, exist_ok=True)
    with exclusive(cache):
        if not state.root.exists():
            report(f"nothing to do: no cluster with state {state.root}")
            return
        begin = time.monotonic()
        remove(state)
        report(f"down after {time.monotonic() - begin:.1f} s")


def current(state: State) -> Progress | None:
    """How the cluster is now; ``None`` when its supervisor does not run."""
    supervisor = ProcessId.load(state.supervisor)
    if supervisor is None or not supervisor.is_alive():
        return None
    return Progress.load(state.progress)


def status(state: State) -> tuple[str, bool]:
    """Describe the cluster in one line, and say whether it is healthy."""
    progress = current(state)
    if progress is None:
        word = "not running, to be cleaned up with `down`" if state.root.exists() else "down"
        return f"{word}: {state.root}", False
    ended = "".join(f"; {name} ended with {code}" for name, code in progress.ended.items())
    return f"{progress.phase}: {state.root}{ended}", progress.is_healthy


def prepare(state: State) -> None:
    """Write all that the supervisor and the components read."""
    config = state.var_lib / Path(layout.CONFIG).relative_to("/var/lib")
    for folder in (config, state.logs, state.var_lib / "kubelet", config / "cni"):
        folder.mkdir(parents=True, exist_ok=True)
    state.root.chmod(0o755)
    keys = config / "pki"
    pki.write_pki(keys)
    authority = (keys / "ca.crt").read_bytes()
    for name in KUBECONFIGS:
        pair = [(keys / f"{name}.{kind}").read_bytes() for kind in ("crt", "key")]
        document = configs.kubeconfig(authority, *pair)
        (config / f"{name}.conf").write_text(configs.render(document))
    files = {
        "containerd.toml": configs.containerd_config(),
        "cni/10-pods.conflist": configs.render(configs.cni_config()),
        "kubelet.json": configs.render(configs.kubelet_config(state.cgroup)),
        "Corefile": configs.corefile(),
    }
    for name, text in files.items():
        (config / name).write_text(text)
    shutil.copyfile(KWOK_STAGES, config / KWOK_STAGES.name)
    shutil.copyfile(config / "admin.conf", state.kubeconfig)
    state.kubeconfig.chmod(0o600)
    cgroups.create(state.cgroup)


def wait_for_start(state: State) -> None:
    """Wait until the supervisor says that the cluster is ready.

    Raises:
        HarnessError: with the reason that it gives when it could not.
    """
    deadline = time.monotonic() + UP_SECONDS
    while (progress := current(state)) is not None and progress.phase == STARTING:
        if time.monotonic() > deadline:
            raise HarnessError(f"not ready after {UP_SECONDS:.0f} s; see the command `logs`")
        time.sleep(0.05)
    said = progress or Progress.load(state.progress)
    if said.phase == FAILED:
        raise HarnessError(f"the cluster did not start: {said.message}")
    if progress is None or progress.phase != READY:
        tail = (state.logs / "supervisor.log").read_text()[-2000:]
        raise HarnessError(f"the supervisor ended without a word: {tail}")


def remove(state: State) -> None:
    """End the cluster's processes, then remove its cgroups and its folder."""
    supervisor = ProcessId.load(state.supervisor)
    if supervisor is not None and supervisor.is_alive():
        for process in [*supervisor.children(), supervisor]:
            if not process.kill():
                raise HarnessError(f"process {process.pid} of the cluster does not end")
    if left := cgroups.remove(state.cgroup):
        raise HarnessError(f"processes are left in {left[0]}; end them, then run `down` again")
    shutil.rmtree(state.root)


@contextmanager
def exclusive(cache: Path) -> Iterator[None]:
    """Let one command at a time start or end clusters; the lock leaves no file."""
    folder = os.open(cache, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)
