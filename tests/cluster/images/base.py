"""The base of every image: a minimal Debian made from its packages, or one that is named.

The Dockerfiles' default base comes from a registry. Where none is reached, the same Debian release
is bootstrapped once into the cache.
"""

import hashlib
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from cluster.images.buildah import Buildah
from cluster.images.digest import TAG_LENGTH, file_digest
from cluster.images.errors import ImagesError
from cluster.images.registries import ENVIRONMENT

SUITE = "trixie"
SLIM = ("doc", "groff", "info", "linda", "lintian", "locale", "man")
# mmdebstrap copies the machine's own name server and name; no image may carry them.
HOST_FILES = ("etc/hostname", "etc/resolv.conf")


@dataclass(frozen=True, slots=True)
class Base:
    """A base that builds can start from; ``digest`` changes with its content."""

    reference: str
    digest: str


def bootstrap_command(output: Path) -> tuple[str, ...]:
    """Say how the root of a slim Debian is made: no manuals, no host files."""
    return (
        "mmdebstrap",
        "--variant=minbase",
        "--include=ca-certificates",
        *(f"--dpkgopt=path-exclude=/usr/share/{folder}/*" for folder in SLIM),
        "--dpkgopt=path-include=/usr/share/doc/*/copyright",
        *(f'--customize-hook=rm -f "$1/{file}"' for file in HOST_FILES),
        SUITE,
        str(output),
    )


def bootstrapped_base(bases: Path, buildah: Buildah) -> Base:
    """Return the base in ``bases``, made now when its recipe is new there."""
    tarball = bases / f"{SUITE}-{_recipe_key(bootstrap_command(Path('base.tar')))}.tar"
    if not tarball.exists():
        _bootstrap(tarball)
    digest = file_digest(tarball)
    reference = _reference(digest)
    if not buildah.has(reference):
        buildah.import_root(tarball, reference, ENVIRONMENT)
    return Base(reference, digest)


def named_base(reference: str, buildah: Buildah) -> Base:
    """Return a base that a registry holds, pulled now when it is new here."""
    configured = _reference(reference)
    if not buildah.has(configured):
        buildah.configure(reference, configured, ENVIRONMENT)
    return Base(configured, reference)


def _recipe_key(command: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(command).encode()).hexdigest()[:TAG_LENGTH]


def _reference(content: str) -> str:
    key = hashlib.sha256(f"{content} {ENVIRONMENT}".encode()).hexdigest()
    return f"localhost/proctor-base:{key[:TAG_LENGTH]}"


def _bootstrap(tarball: Path) -> None:
    tarball.parent.mkdir(parents=True, exist_ok=True)
    unfinished = tarball.with_name(f"unfinished-{tarball.name}")
    try:
        subprocess.run(bootstrap_command(unfinished), check=True)
    except FileNotFoundError:
        raise ImagesError(
            "mmdebstrap is not installed; apt-get install mmdebstrap, or give --base IMAGE"
        ) from None
    except subprocess.CalledProcessError as error:
        unfinished.unlink(missing_ok=True)
        raise ImagesError(
            f"mmdebstrap ended with {error.returncode}, see above; apt-get update shows whether "
            "Debian's packages are reached"
        ) from None
    unfinished.rename(tarball)
