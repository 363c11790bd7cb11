"""The container engine behind a command: podman's, or docker's, which takes the same words.

Everything in which the two differ is in ``_Dialect``.
"""

import asyncio
import csv
import io
import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from proctor.api.container import ROOTS_CAPABILITIES
from proctor.local.engine import Container, ContainerEnd, EngineError, Share
from proctor.local.files import open_log
from proctor.local.labels import FOLDER_LABEL, PLACE_LABEL, labels, this_place

ENGINES = ("podman", "docker")
"""Commands, the preferred one first."""

ROOTS_USER = 64_000
"""User and group of containers when this process is root's: the one that trials have in a pod."""

_CGROUPS = Path("/sys/fs/cgroup")
_PIDS = 2048
_GRACE_SECONDS = 10
_SLACK_SECONDS = 60.0
_SECCOMP = Path(__file__).with_name("seccomp.json")
"""The one of pods: podman's own lets namespaces and keyrings through."""

_KEEPER = (sys.executable, "-P", "-m", "proctor.local.container_keeper")


@dataclass(frozen=True, slots=True)
class _Dialect:
    """Words of ``create`` that only one of the engines knows."""

    always: tuple[str, ...] = ()
    without_root: tuple[str, ...] = ()


_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "FTP_PROXY", "ALL_PROXY", "NO_PROXY")

_DIALECTS = {
    # Podman hands the proxies of our environment to containers, and passwords with them; without
    # root, keep-id makes the container's user us, so that what it writes is ours.
    "podman": _Dialect(("--http-proxy=false",), ("--userns=keep-id",)),
    # Docker does so with those of its own configuration, but for the variables that are set.
    "docker": _Dialect(tuple(f"--env={name}=" for one in _PROXIES for name in (one, one.lower()))),
}


def find_engine(wanted: str | None, environment: Mapping[str, str]) -> "CommandEngine":
    """The engine that is wanted, or the first that is installed.

    Raises:
        EngineError: When there is none, or it does not work here.
    """
    if sys.platform != "linux":
        raise EngineError("containers need Linux here: run without --container, or on a cluster")
    names = ENGINES if wanted is None else (wanted,)
    found = next((name for name in names if shutil.which(name, path=environment["PATH"])), None)
    if found is None:
        raise EngineError(
            f"--container needs {' or '.join(names)}, which is not on PATH: install it, or run "
            "without --container"
        )
    require_limits(found, os.geteuid())
    engine = CommandEngine(found, environment)
    engine.require_working()
    return engine


def require_own_root(engine: str, uid: int) -> None:
    """See that root in a container is nobody whose files we cannot remove.

    Raises:
        EngineError: When it is this machine's, and we are not.
    """
    if engine == "docker" and uid != 0:
        raise EngineError(
            "sandbox.user: Image needs podman, or root: what docker's containers leave as root is "
            "root's on this machine, and you could neither read nor remove it"
        )


def require_limits(engine: str, uid: int, cgroups: Path = _CGROUPS) -> None:
    """See that limits are kept: podman without root leaves them out on cgroup v1.

    Raises:
        EngineError: When they are not.
    """
    if engine == "podman" and uid != 0 and not (cgroups / "cgroup.controllers").exists():
        raise EngineError(
            "podman without root keeps no limits of memory and CPU on cgroup v1: boot with "
            "systemd.unified_cgroup_hierarchy=1, use docker, or run as root"
        )


class CommandEngine:
    """An engine by its command.

    Args:
        name: ``podman`` or ``docker``.
        environment: Of the command, complete; containers see none of it.
        grace_seconds: What a container has between SIGTERM and SIGKILL.

    Raises:
        EngineError: Where it cannot tell which containers are whose.
    """

    def __init__(
        self, name: str, environment: Mapping[str, str], grace_seconds: int = _GRACE_SECONDS
    ) -> None:
        self._name = name
        self._environment = dict(environment)
        self._grace_seconds = grace_seconds
        self._place = this_place()
        self._alive: set[asyncio.subprocess.Process] = set()

    @property
    def name(self) -> str:
        """What the user calls it."""
        return self._name

    def require_working(self) -> None:
        """See that it answers.

        Raises:
            EngineError: With what it says.
        """
        done = self._call("ps", "--quiet", "--filter", f"label={FOLDER_LABEL}")
        if done.returncode != 0:
            raise EngineError(
                f"{self._name} does not work here: {_last_line(done.stderr)}; see what "
                f"`{self._name} ps` says, or run without --container"
            )

    def image_id(self, reference: str) -> str | None:
        """Id of an image that is here."""
        done = self._call("image", "inspect", "--format", "{{.Id}}", reference)
        return done.stdout.strip().removeprefix("sha256:") if done.returncode == 0 else None

    def copy_out(self, image: str, path: str, target: Path, owner: Path) -> None:
        """Copy a folder of an image, by a container that is never started."""
        words = ("--pull=never", "--network=none", *labels(owner, self._place))
        made = self._ask("create", *words, image, "none")
        try:
            self._ask("cp", f"{made}:{path}", str(target))
        finally:
            self._call("rm", "--force", "--volumes", made)

    async def run(self, container: Container, log: Path, timeout_seconds: float) -> ContainerEnd:
        """Run a container to its end."""
        give = _give_group if container.image_user else _give
        for share in container.shares:
            give(share)
        process = await self._start(container, log)
        self._alive.add(process)
        try:
            said, timed_out = await self._wait(process, timeout_seconds)
        finally:
            self._alive.discard(process)
        if not said:
            raise EngineError(f"the keeper of container {container.name} was killed")
        end = json.loads(said)
        return ContainerEnd(end["exit"], bool(end.get("oom")), timed_out)

    def kill(self) -> None:
        """End all running containers: their keepers see the end of standard input."""
        for process in self._alive:
            _hang_up(process)

    def owners(self) -> Mapping[str, Path]:
        """Containers of this user that exist and were made where folders are those seen here."""
        ours = (f"label={FOLDER_LABEL}", f"label={PLACE_LABEL}={self._place}")
        filters = [word for one in ours for word in ("--filter", one)]
        ids = self._ask("ps", "--all", "--quiet", *filters).split()
        found = {}
        for one in ids:
            done = self._call("inspect", "--format", "{{json .Config.Labels}}", one)
            if done.returncode == 0:
                found[one] = Path(json.loads(done.stdout)[FOLDER_LABEL])
        return found

    def remove(self, names: Sequence[str]) -> None:
        """Kill and remove containers."""
        for name in names:
            self._call("kill", name)
            self._call("rm", "--force", "--volumes", name)

    async def _start(self, container: Container, log: Path) -> asyncio.subprocess.Process:
        uid, gid = os.geteuid(), os.getegid()
        folders = foreign_folders(container, self._name, uid)
        foreign = json.dumps({"folders": folders, "passesOn": container.passes_on})
        keeper = (*_KEEPER, str(self._grace_seconds), self._name, container.name, foreign)
        roots = container.image_user and await asyncio.to_thread(self._is_roots, container.image)
        with open_log(log) as output:
            return await asyncio.create_subprocess_exec(
                *keeper,
                *labels(container.owner, self._place),
                *create_words(container, self._name, uid, gid, roots_image=roots),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=output,
                cwd=container.folder,
                env={**self._environment, **container.variables},
                start_new_session=True,
            )

    async def _wait(
        self, process: asyncio.subprocess.Process, timeout_seconds: float
    ) -> tuple[bytes, bool]:
        assert process.stdout is not None
        try:
            return await asyncio.wait_for(process.stdout.read(), timeout_seconds), False
        except TimeoutError:
            return await self._end(process), True
        except asyncio.CancelledError:
            await self._end(process)
            raise
        finally:
            await asyncio.shield(process.wait())

    async def _end(self, process: asyncio.subprocess.Process) -> bytes:
        """Ask the container to end, and end it when it does not."""
        assert process.stdout is not None
        assert process.stdin is not None
        with suppress(OSError):
            process.stdin.write(b"t")
        reading = asyncio.ensure_future(process.stdout.read())
        try:
            patience = self._grace_seconds + _SLACK_SECONDS
            return await asyncio.wait_for(asyncio.shield(reading), patience)
        except TimeoutError:
            _hang_up(process)
            return await reading

    def _is_roots(self, image: str) -> bool:
        """Whether an image says that it runs as root; one that says nothing does."""
        user = self._call("image", "inspect", "--format", "{{.Config.User}}", image).stdout
        return user.strip().partition(":")[0] in ("", "0", "root")

    def _ask(self, *words: str) -> str:
        done = self._call(*words)
        if done.returncode != 0:
            raise EngineError(f"{self._name} {words[0]}: {_last_line(done.stderr)}")
        return done.stdout.strip()

    def _call(self, *words: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            (self._name, *words),
            env=self._environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )


def create_words(
    container: Container, engine: str, uid: int, gid: int, *, roots_image: bool = False
) -> tuple[str, ...]:
    """What follows ``create --name NAME``; ``uid`` and ``gid`` are this process's own.

    ``roots_image``: the image's user is root.
    """
    dialect = _DIALECTS[engine]
    program, *arguments = container.command
    return (
        "--pull=never",
        *dialect.always,
        "--network=none",
        "--cap-drop=ALL",
        *(
            _image_user(uid, roots_image=roots_image)
            if container.image_user
            else _own_user(dialect, uid, gid)
        ),
        "--security-opt=no-new-privileges",
        f"--security-opt=seccomp={_SECCOMP}",
        # SELinux would keep the container from our folders and from the gateway's socket
        "--security-opt=label=disable",
        f"--pids-limit={_PIDS}",
        f"--cpus={container.cpus}",
        f"--memory={container.memory_bytes}",
        f"--memory-swap={container.memory_bytes}",
        "--log-driver=none",
        # what the image says of these is for its own program
        "--no-healthcheck",
        "--stop-signal=SIGTERM",
        "--workdir=/",
        *(f"--mount={_mount(share)}" for share in container.shares),
        *(f"--env={name}" for name in sorted(container.variables)),
        f"--entrypoint={program}",
        container.image,
        *arguments,
    )


def _own_user(dialect: _Dialect, uid: int, gid: int) -> tuple[str, ...]:
    """Who is root gives its containers a user of no rights; anybody else is that user."""
    if uid == 0:
        return (f"--user={ROOTS_USER}:{ROOTS_USER}",)
    return (*dialect.without_root, f"--user={uid}:{gid}")


def _image_user(uid: int, *, roots_image: bool) -> tuple[str, ...]:
    """The image's own, in the group of the shares: without root ours is the container's group 0.

    Capabilities for root alone: podman makes those of another user effective, and a pod does not.
    """
    rights = ROOTS_CAPABILITIES if roots_image else ()
    group = ROOTS_USER if uid == 0 else 0
    return (f"--group-add={group}", *(f"--cap-add={name}" for name in rights))


def foreign_folders(container: Container, engine: str, uid: int) -> list[str]:
    """Where a container may leave files of users that are not ours: those of podman without root.

    Root owns, or can take, whatever its containers leave.
    """
    if engine != "podman" or uid == 0 or not container.image_user:
        return []
    shares = (share.source for share in container.shares if share.writable)
    return [str(source) for source in shares]


def _mount(share: Share) -> str:
    fields = ["type=bind", f"source={share.source}", f"target={share.target}"]
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(
        fields if share.writable else [*fields, "readonly"]
    )
    return line.getvalue()


def _give(share: Share) -> None:
    """Let the container's user use what is root's; what lies deeper is that user's already."""
    if os.geteuid() == 0 and (share.writable or not share.source.is_dir()):
        os.chown(share.source, ROOTS_USER, ROOTS_USER, follow_symlinks=False)


def _give_group(share: Share) -> None:
    """Let the image's user use it by its group, as in a pod: which user that is, nobody knows."""
    if not share.writable and share.source.is_dir():
        return
    group = ROOTS_USER if os.geteuid() == 0 else os.getegid()
    os.chown(share.source, -1, group, follow_symlinks=False)
    mode = stat.S_IMODE(share.source.lstat().st_mode)
    if share.source.is_dir():
        share.source.chmod(mode | stat.S_ISGID | stat.S_IRWXG)
    else:
        share.source.chmod(mode | stat.S_IRGRP | stat.S_IWGRP)


def _hang_up(process: asyncio.subprocess.Process) -> None:
    if process.stdin is not None:
        process.stdin.close()


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "it says nothing"
