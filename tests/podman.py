"""A podman of Debian's package with a storage of its own, for as long as the tests run.

Missing and root: it is installed. It leaves nothing behind.
"""

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REQUIRED = "PROCTOR_TEST_PODMAN"
"""Set to ``required`` where the contract of the container engine is tested on podman too."""

BUSYBOX = "localhost/busybox:test"

_PACKAGES = ("podman", "runc", "busybox-static")
_LOCK = Path(tempfile.gettempdir()) / "proctor-podman-install.lock"
_CONTAINERS = """\
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=8192:8192"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "none"
"""
"""Root may lack the right to raise limits; crun refuses cgroups of both versions side by side."""


class NoPodmanError(Exception):
    """There is no podman to be had, or it cannot start a container; the message says why."""


@dataclass(frozen=True)
class Podman:
    """It is called with ``environment``, by the tests and by what they test."""

    environment: Mapping[str, str]

    def __call__(self, *words: object) -> str:
        done = subprocess.run(
            ["podman", *map(str, words)],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise NoPodmanError(f"podman {words[0]}: {done.stderr.strip()}")
        return done.stdout

    def names(self) -> list[str]:
        """All containers, dead ones included."""
        return self("ps", "--all", "--format", "{{.Names}}").split()


@contextmanager
def running_podman() -> Iterator[Podman]:
    """Podman with one image, ``BUSYBOX``.

    Raises:
        NoPodmanError: It cannot be had, or it cannot start a container here.
    """
    if not all(map(shutil.which, ("podman", "runc", "busybox"))):
        _install()
    folder = Path(tempfile.mkdtemp(prefix="proctor-podman-"))
    try:
        podman = Podman(_environment(folder))
        _import_busybox(podman, folder)
        podman("run", "--rm", "--network=none", BUSYBOX, "true")
        try:
            yield podman
        finally:
            podman("rm", "--all", "--force", "--time=0", "--volumes")
            podman("rmi", "--all", "--force")
    finally:
        subprocess.run(["umount", "--quiet", folder / "storage/overlay"], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _environment(folder: Path) -> dict[str, str]:
    (folder / "containers.conf").write_text(_CONTAINERS)
    (folder / "storage.conf").write_text(
        f'[storage]\ndriver = "{_driver(folder)}"\ngraphroot = "{folder}/storage"\n'
        f'runroot = "{folder}/run"\n'
    )
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CONTAINERS_CONF": str(folder / "containers.conf"),
        "CONTAINERS_STORAGE_CONF": str(folder / "storage.conf"),
    }


def _driver(folder: Path) -> str:
    """Overlay, which does not lie on another overlay."""
    kind = ["stat", "--file-system", "--format=%T", folder]
    found = subprocess.run(kind, capture_output=True, text=True, check=True).stdout.strip()
    return "vfs" if found == "overlayfs" else "overlay"


def _import_busybox(podman: Podman, folder: Path) -> None:
    root = folder / "root"
    for name in ("bin", "data"):
        (root / name).mkdir(parents=True)
    busybox = root / "bin/busybox"
    shutil.copy(shutil.which("busybox") or "", busybox)
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True)
    for name in applets.stdout.split():
        if name != "busybox":
            (root / "bin" / name).symlink_to("busybox")
    (root / "data/file.txt").write_text("of the image\n")
    archive = folder / "root.tar"
    subprocess.run(["tar", "-C", root, "-cf", archive, "."], check=True)
    # images may say how their own program is stopped and watched, and where it keeps data
    said = ("ENV PATH=/bin", "STOPSIGNAL SIGUSR1", "VOLUME /kept", "USER 1:1")
    changes = [word for one in said for word in ("--change", one)]
    podman("import", *changes, archive, BUSYBOX)
    shutil.rmtree(root)
    archive.unlink()


def _install() -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise NoPodmanError(f"install {', '.join(_PACKAGES)}: only root on Debian can do it here")
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for words in (("update", "-qq"), ("install", "-qq", "--no-install-recommends", *_PACKAGES)):
            done = subprocess.run(
                ["apt-get", "--yes", *words],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode != 0:
                raise NoPodmanError(f"apt-get {words[0]}: {done.stderr.strip()}")
