"""Loading image archives into the cluster's containerd, where pods find them without a pull."""

import fcntl
import json
import shutil
import subprocess
import tempfile
from pathlib import Path

from cluster.harness import layout, namespaces
from cluster.harness.archives import read_archive, write_docker_archive
from cluster.harness.binaries import Report
from cluster.harness.errors import HarnessError
from cluster.harness.paths import State

CTR = ("ctr", "--address", layout.CONTAINERD_SOCKET, "--namespace", "k8s.io")


def load_image(state: State, path: Path, report: Report) -> None:
    """Import an archive, unless images of its names and digests were imported before.

    One at a time: who comes meanwhile waits, and finds it loaded.
    """
    with state.images.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        _load(state, path, report)


def _load(state: State, path: Path, report: Report) -> None:
    wanted = {image.name: image.digest for image in read_archive(path)}
    loaded = _loaded(state)
    names = ", ".join(wanted)
    if all(loaded.get(name) == digest for name, digest in wanted.items()):
        report(f"already loaded: {names}")
        return
    with path.open("rb") as archive:
        done = subprocess.run(
            namespaces.inside(state, [*CTR, "images", "import", "-"]),
            stdin=archive,
            check=False,
            capture_output=True,
            text=True,
        )
    if done.returncode != 0:
        raise HarnessError(f"containerd did not import {path}: {done.stderr.strip()}")
    fresh = state.images.with_suffix(".new")
    fresh.write_text(json.dumps({**loaded, **wanted}))
    fresh.replace(state.images)
    report(f"loaded: {names}")


def load_pause(state: State, binary: Path) -> None:
    """Import the image of every pod's sandbox, made from one static binary."""
    with tempfile.TemporaryDirectory(prefix="pause-", dir=state.root) as scratch:
        tree = Path(scratch) / "root"
        tree.mkdir()
        shutil.copy(binary, tree / "pause")
        archive = Path(scratch) / "pause.tar"
        write_docker_archive(tree, layout.PAUSE_IMAGE, archive, entrypoint=["/pause"])
        load_image(state, archive, lambda _: None)


def _loaded(state: State) -> dict[str, str]:
    try:
        names: dict[str, str] = json.loads(state.images.read_text())
    except FileNotFoundError:
        return {}
    return names
