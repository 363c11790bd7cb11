"""A private PostgreSQL server of Debian's package, for as long as the tests run.

Missing and root: it is installed. It runs as the package's user in a folder of its own, listens on
a socket there, and leaves nothing behind.
"""

import fcntl
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import pytest

REQUIRED = "PROCTOR_TEST_POSTGRESQL"
"""Set to ``required`` where a missing server is a failure and no reason to skip."""

_USER = "postgres"
_ROLE = "proctor"
_PLACES = Path("/usr/lib/postgresql")


class NoPostgresError(Exception):
    """There is no server to be had; the message says why."""


def skip_unless_required(error: NoPostgresError) -> NoReturn:
    """Skip with the reason; where a server is required, fail."""
    if os.environ.get(REQUIRED) == "required":
        raise error
    pytest.skip(str(error))


@dataclass(frozen=True, slots=True)
class Postgres:
    """A server in a folder of its own; ``address`` empty: it listens on its socket only."""

    programs: Path
    folder: Path
    owner: str | None
    address: str = ""

    @property
    def url(self) -> str:
        """Of the first database, through the socket."""
        return f"postgresql+psycopg://{_ROLE}@/postgres?host={self.folder}"

    def make(self) -> None:
        """Its files; whoever comes by the network needs a password."""
        initdb = ("initdb", "--auth=trust", "-U", _ROLE, "--no-sync", "-D")
        _run(self.owner, self.programs / initdb[0], *initdb[1:], self._data)
        with (self._data / "pg_hba.conf").open("a") as access:
            access.write("host all all all scram-sha-256\n")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-c listen_addresses={self.address} -c unix_socket_directories={self.folder}"
        self._control("-o", f"{options} -c fsync=off", "-l", self.folder / "log", "start")

    def stop(self) -> None:
        """End it at once, as a crash does."""
        self._control("-m", "immediate", "stop")

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _control(self, *arguments: object) -> None:
        _run(self.owner, self.programs / "pg_ctl", "-D", self._data, "-w", *arguments)


@contextmanager
def running_postgres() -> Iterator[str]:
    """The address of a fresh database.

    Raises:
        NoPostgresError: It is not installed and cannot be.
    """
    with a_postgres() as server:
        yield server.url


@contextmanager
def a_postgres(address: str = "") -> Iterator[Postgres]:
    """A fresh server that runs; whoever stops it starts it again.

    Raises:
        NoPostgresError: It is not installed and cannot be.
    """
    programs = _programs()
    owner = _USER if os.geteuid() == 0 else None
    folder = Path(tempfile.mkdtemp(prefix="proctor-pg-"))
    try:
        if owner:
            shutil.chown(folder, owner)
        server = Postgres(programs, folder, owner, address)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _programs() -> Path:
    found = _installed()
    if found is None:
        _install()
        found = _installed()
    if found is None:
        raise NoPostgresError("Debian's package postgresql has no initdb in /usr/lib/postgresql")
    if os.geteuid() == 0:
        try:
            pwd.getpwnam(_USER)
        except KeyError:
            raise NoPostgresError(
                "PostgreSQL refuses root, and there is no user postgres"
            ) from None
    return found


def _installed() -> Path | None:
    found = sorted(_PLACES.glob("*/bin/initdb"))
    return found[-1].parent if found else None


def _install() -> None:
    """Install it, once for all workers; no cluster is made or started by the package."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise NoPostgresError("PostgreSQL is not installed, and only root on Debian can do that")
    with Path(tempfile.gettempdir(), "proctor-postgresql.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _installed() is not None:
            return
        settings = Path("/etc/postgresql-common/createcluster.conf")
        settings.parent.mkdir(exist_ok=True)
        if not settings.exists():
            settings.write_text("create_main_cluster = false\n")
        command = "apt-get update -qq && apt-get install -y -qq --no-install-recommends postgresql"
        result = subprocess.run(
            ["sh", "-c", command],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        if result.returncode != 0:
            raise NoPostgresError(f"apt-get cannot install it: {result.stderr.strip()[-300:]}")


def _run(owner: str | None, *command: object) -> None:
    result = subprocess.run(
        [str(part) for part in command],
        user=owner,
        group=owner,
        extra_groups=[] if owner else None,
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    assert result.returncode == 0, f"{command[0]}: {result.stderr}"
