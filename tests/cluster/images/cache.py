"""Where the tool keeps things: bases, archives, layers, downloads, logs, in one folder.

The folder is shared with the test cluster's own tool, so one folder to delete frees everything.
"""

import fcntl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

CACHE_VARIABLE = "PROCTOR_TEST_CLUSTER_CACHE"
ARCHIVES_KEPT = 6
"""Of each image. The cache is every checkout's: with fewer than there are in use, two would remove
each other's and build everything again each time."""


@dataclass(frozen=True, slots=True)
class Cache:
    """One folder; losing it costs a cold build and nothing else."""

    root: Path

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "Cache":
        """Take the folder that the environment names, else the usual one of this person."""
        if given := environ.get(CACHE_VARIABLE):
            return cls(Path(given).absolute() / "images")
        home = Path(environ.get("HOME") or "/root")
        usual = Path(environ.get("XDG_CACHE_HOME") or home / ".cache")
        return cls(usual / "proctor-test-cluster" / "images")

    @property
    def bases(self) -> Path:
        """Root file systems that images start from."""
        return self.root / "bases"

    @property
    def storage(self) -> Path:
        """Buildah's layers."""
        return self.root / "storage"

    @property
    def registries(self) -> Path:
        """What build steps know of this machine's package registries, and what they fetched."""
        return self.root / "registries"

    def archive(self, registry: str, name: str, tag: str) -> Path:
        """Archive of one image."""
        return self.root / "archives" / registry.replace("/", "_") / f"{name}-{tag}.tar"

    def log(self, name: str) -> Path:
        """Output of the last build of one image."""
        return self.root / "logs" / f"{name}.log"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait until no other build uses the cache, and keep others waiting meanwhile."""
        self.root.mkdir(parents=True, exist_ok=True)
        with (self.root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


def outdated(archives: Sequence[tuple[float, Path]], kept: int = ARCHIVES_KEPT) -> tuple[Path, ...]:
    """List the archives, given with their times of change, that newer ones have replaced."""
    newest_first = sorted(archives, reverse=True)
    return tuple(path for _, path in newest_first[kept:])
