"""Binaries of the cluster, built from Go modules into the cache; only what is missing is built.

A set is one Go module below ``tests/cluster/go``. Its folder in the cache carries a hash of all
that decides the result, so a change of version is a new folder and never a stale binary.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from cluster.harness.errors import HarnessError

GO_MODULES = Path(__file__).resolve().parent.parent / "go"
KUBERNETES_VERSION = "1.34.4"
VERSION_PACKAGE = "k8s.io/component-base/version"
KEY_LENGTH = 12

Report = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class BinarySet:
    """What one Go module builds.

    ``packages`` maps each binary to its Go package; ``variables`` are set by the linker.
    """

    name: str
    packages: dict[str, str]
    variables: dict[str, str] = field(default_factory=dict)
    modules: Path = GO_MODULES

    @property
    def module(self) -> Path:
        """Folder with its go.mod."""
        return self.modules / self.name

    @property
    def flags(self) -> list[str]:
        """Flags of ``go build``: reproducible, without debug information."""
        assigned = [f"-X {name}={value}" for name, value in self.variables.items()]
        return ["-trimpath", "-ldflags", " ".join(["-s", "-w", *assigned])]


KUBERNETES = BinarySet(
    "kubernetes",
    {
        "etcd": "go.etcd.io/etcd/server/v3",
        "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
        "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
        "kube-proxy": "k8s.io/kubernetes/cmd/kube-proxy",
        "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
        "kubelet": "k8s.io/kubernetes/cmd/kubelet",
    },
    variables={
        f"{VERSION_PACKAGE}.gitVersion": f"v{KUBERNETES_VERSION}",
        f"{VERSION_PACKAGE}.gitMajor": KUBERNETES_VERSION.split(".")[0],
        f"{VERSION_PACKAGE}.gitMinor": KUBERNETES_VERSION.split(".")[1],
    },
)
COREDNS = BinarySet("coredns", {"coredns": "."})
PAUSE = BinarySet("pause", {"pause": "."})
REQUIRED = (PAUSE, COREDNS, KUBERNETES)
OPTIONAL = {
    "kube-router": BinarySet(
        "kube-router",
        {"kube-router": "github.com/cloudnativelabs/kube-router/v2/cmd/kube-router"},
    ),
    "kwok": BinarySet("kwok", {"kwok": "sigs.k8s.io/kwok/cmd/kwok"}),
}


def sets_with(extras: Iterable[str]) -> tuple[BinarySet, ...]:
    """The sets of a cluster with these optional components."""
    return (*REQUIRED, *(OPTIONAL[name] for name in sorted(extras)))


def set_folder(binaries: BinarySet, cache: Path) -> Path:
    """Folder in the cache for exactly this source, these flags and this kind of processor."""
    digest = hashlib.sha256()
    for part in [*sorted(binaries.packages.items()), *binaries.flags, platform.machine()]:
        digest.update(repr(part).encode())
    for file in sorted(binaries.module.iterdir()):
        if file.suffix in (".go", ".mod", ".sum"):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return cache / f"{binaries.name}-{digest.hexdigest()[:KEY_LENGTH]}"


def missing_sets(sets: Iterable[BinarySet], cache: Path) -> list[BinarySet]:
    """Those of ``sets`` that the cache does not hold."""
    return [binaries for binaries in sets if not set_folder(binaries, cache).is_dir()]


def find_binaries(sets: Iterable[BinarySet], cache: Path) -> dict[str, Path]:
    """Path of every binary of ``sets`` by its name.

    Raises:
        HarnessError: one is not built.
    """
    sets = tuple(sets)
    if missing := missing_sets(sets, cache):
        names = ", ".join(binaries.name for binaries in missing)
        raise HarnessError(f"not built yet: {names} (in {cache}); run `build`")
    return {
        binary: set_folder(binaries, cache) / binary
        for binaries in sets
        for binary in binaries.packages
    }


def build(binaries: BinarySet, cache: Path, go: Path, report: Report) -> None:
    """Build one set and put it into the cache in one step."""
    report(f"{binaries.name}: building with {go} (a first build takes minutes)")
    begin = time.monotonic()
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{binaries.name}-", dir=cache) as scratch:
        output = Path(scratch) / "set"
        output.mkdir()
        for binary, package in binaries.packages.items():
            _go_build(binaries, package, output / binary, go)
            report(f"{binaries.name}: {binary} after {time.monotonic() - begin:.0f} s")
        put_in_place(output, set_folder(binaries, cache))


def put_in_place(made: Path, final: Path) -> None:
    """Move a finished folder to its name; somebody else's equal one may be there first."""
    try:
        made.rename(final)
    except OSError:
        if not final.is_dir():
            raise
        shutil.rmtree(made)


def _go_build(binaries: BinarySet, package: str, output: Path, go: Path) -> None:
    done = subprocess.run(
        [go, "build", *binaries.flags, "-o", output, package],
        cwd=binaries.module,
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()[-20:]
        raise HarnessError(f"go build {package} in {binaries.module} failed:\n" + "\n".join(lines))
