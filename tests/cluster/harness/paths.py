"""Where the tool keeps things on the host: one cache folder, one state folder, nothing else.

The cache (binaries) outlives clusters; the state is one cluster and goes away with it. Paths
*inside* the cluster's mount namespace are in ``layout``.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CACHE_VARIABLE = "PROCTOR_TEST_CLUSTER_CACHE"
STATE_VARIABLE = "PROCTOR_TEST_CLUSTER_STATE"


def cache_folder(environ: Mapping[str, str]) -> Path:
    """Folder of built binaries, shared by all clusters of this person."""
    given = environ.get(CACHE_VARIABLE)
    if given:
        return Path(given).absolute()
    home = Path(environ.get("HOME") or "/root")
    return Path(environ.get("XDG_CACHE_HOME") or home / ".cache") / "proctor-test-cluster"


@dataclass(frozen=True, slots=True)
class State:
    """The folder of one cluster; another folder is another cluster, and both can run at once."""

    root: Path

    @classmethod
    def from_environ(cls, environ: Mapping[str, str]) -> "State":
        """Read the folder from the environment, by default one below the cache."""
        given = environ.get(STATE_VARIABLE)
        return cls(Path(given).absolute() if given else cache_folder(environ) / "state")

    @property
    def cgroup(self) -> str:
        """Name of the cgroup, in every hierarchy, that holds this cluster's pods and no others."""
        return "proctor-test-" + hashlib.sha256(str(self.root).encode()).hexdigest()[:8]

    @property
    def kubeconfig(self) -> Path:
        """Administrator's kubeconfig; its address is right inside the network namespace only."""
        return self.root / "kubeconfig"

    @property
    def supervisor(self) -> Path:
        """Identity of the supervisor process: pid and start time, as JSON."""
        return self.root / "supervisor.json"

    @property
    def progress(self) -> Path:
        """What the supervisor says of itself: phase, error, ended components, as JSON."""
        return self.root / "progress.json"

    @property
    def images(self) -> Path:
        """Which archives were loaded: image name to archive digest, as JSON."""
        return self.root / "images.json"

    @property
    def home(self) -> Path:
        """Caches of kubectl and helm, which would else be in the person's home."""
        return self.root / "home"

    @property
    def var_lib(self) -> Path:
        """Becomes /var/lib inside the cluster."""
        return self.root / "var-lib"

    @property
    def var_log(self) -> Path:
        """Becomes /var/log inside the cluster."""
        return self.root / "var-log"

    @property
    def logs(self) -> Path:
        """One log file for each component, and the supervisor's own."""
        return self.var_log / "cluster"
