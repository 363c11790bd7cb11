"""Somebody's own cluster: with ``KUBECONFIG`` set, the tool starts and ends nothing."""

import os
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from cluster.harness.archives import read_archive
from cluster.harness.binaries import Report
from cluster.harness.errors import HarnessError
from cluster.harness.paths import State

OURS_VARIABLE = "PROCTOR_TEST_CLUSTER"
REGISTRY_VARIABLE = "PROCTOR_TEST_REGISTRY"


def foreign_kubeconfig(environ: Mapping[str, str], state: State) -> str | None:
    """Kubeconfig of a cluster that is not this tool's; ``None`` when the tool's own is meant."""
    given = environ.get("KUBECONFIG")
    if not given or environ.get(OURS_VARIABLE) == "ours":
        return None
    return None if Path(given).absolute() == state.kubeconfig else given


def environment(clients: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Environment of a command: the person's own, whose kubectl and helm come first."""
    return {**environ, "PATH": f"{environ.get('PATH', '')}:{clients}"}


def pushed_name(name: str, registry: str) -> str:
    """Name of an image in ``registry``: the same path and tag, another host."""
    host, slash, rest = name.partition("/")
    has_host = slash and ("." in host or ":" in host or host == "localhost")
    return f"{registry.rstrip('/')}/{rest if has_host else name}"


def push_image(path: Path, environ: Mapping[str, str], report: Report) -> None:
    """Push an archive's images to the registry that the person's cluster pulls from."""
    registry = environ.get(REGISTRY_VARIABLE)
    if not registry:
        raise HarnessError(
            f"{REGISTRY_VARIABLE} is not set; set it to a registry, such as localhost:5000, that "
            f"the cluster of KUBECONFIG={environ['KUBECONFIG']} pulls from"
        )
    form = "oci-archive" if _is_oci(path) else "docker-archive"
    with tempfile.TemporaryDirectory(prefix="push-") as folder:
        store = ("--storage-driver=vfs", f"--root={folder}/root", f"--runroot={folder}/run")
        for image in read_archive(path):
            target = pushed_name(image.name, registry)
            identifier = _buildah(*store, "pull", "--quiet", f"{form}:{path}")
            _buildah(*store, "push", "--tls-verify=false", identifier, f"docker://{target}")
            report(f"pushed: {target}")


def _is_oci(path: Path) -> bool:
    listed = subprocess.run(["tar", "-tf", path], check=True, capture_output=True, text=True)
    names = {line.removeprefix("./") for line in listed.stdout.splitlines()}
    return "oci-layout" in names and "manifest.json" not in names


def _buildah(*arguments: str) -> str:
    try:
        done = subprocess.run(
            ["buildah", *arguments],
            env=dict(os.environ),
            check=False,
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise HarnessError("buildah is not installed; run `install`") from None
    if done.returncode != 0:
        raise HarnessError(f"buildah {' '.join(arguments)} failed: {done.stderr.strip()}")
    return done.stdout.strip()
