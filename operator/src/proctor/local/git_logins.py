"""Who asks git servers on this machine: as git itself is told, by GIT_ASKPASS and the like."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import urlsplit

from proctor.api.errors import UserError
from proctor.api.git import GIT_AUTHORITIES_FILE, GIT_PASSWORD, GIT_PROXY, GIT_USERNAME
from proctor.api.workspace import GitRepository
from proctor.local.planned import PlannedRun

Logins = Mapping[GitRepository, Mapping[str, str]]
"""For each repository what its phase ``fetch`` is told, by the names of ``api.git``."""

_ASKING_SECONDS = 120


def find_logins(runs: Sequence[PlannedRun], environment: Mapping[str, str]) -> Logins:
    """Ask for what the repositories of these runs need.

    Raises:
        UserError: A repository names a Secret, and GIT_ASKPASS has no answer.
    """
    cells = [cell for run in runs for cell in run.plan.cells.values()]
    repositories = {cell.git for cell in cells if cell.git is not None}
    return {one: _login(one, environment) for one in sorted(repositories, key=str)}


def _login(repository: GitRepository, environment: Mapping[str, str]) -> dict[str, str]:
    parts = urlsplit(repository.url)
    proxy = environment.get("https_proxy") or environment.get("HTTPS_PROXY")
    around = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    told = {}
    if proxy and not _is_around(parts.hostname or "", around):
        told[GIT_PROXY] = proxy
    if authorities := environment.get("GIT_SSL_CAINFO"):
        told[GIT_AUTHORITIES_FILE] = _readable(authorities)
    if repository.secret_ref is not None:
        program = environment.get("GIT_ASKPASS")
        if not program:
            raise UserError(
                f"{repository.url} names a Secret (workspace.git.secretRef), and there is none "
                "here: set GIT_ASKPASS to a program that prints user name and password, as git "
                "asks it"
            )
        user = told[GIT_USERNAME] = _ask(program, f"Username for 'https://{parts.netloc}': ")
        told[GIT_PASSWORD] = _ask(program, f"Password for 'https://{user}@{parts.netloc}': ")
    return told


def _is_around(host: str, around: str) -> bool:
    """Whether a host is one of those that no proxy is for, as curl reads the variable."""
    named = [one.strip().lstrip(".").lower() for one in around.split(",")]
    return any(one in ("*", host) or host.endswith(f".{one}") for one in named if one)


def _readable(path: str) -> str:
    """The absolute path of a file of certificates."""
    try:
        Path(path).read_text()
        return str(Path(path).absolute())
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"GIT_SSL_CAINFO {path}: {error}: name a file of certificates") from None


def _ask(program: str, question: str) -> str:
    try:
        done = subprocess.run(
            [program, question],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_ASKING_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"GIT_ASKPASS {program}: {error}") from None
    answer = done.stdout.strip("\r\n")
    if done.returncode or not answer:
        raise UserError(f"GIT_ASKPASS {program} has no answer to {question.strip()!r}")
    return answer
