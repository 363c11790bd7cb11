"""A workspace that is a commit of a git repository: which one, and what cannot be (pure)."""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from proctor.api.egress import LABEL, PORT, EgressMode
from proctor.api.errors import Problem
from proctor.api.workspace import GitRepository, Workspace

_HOST = rf"({LABEL}[.])+[a-z]([-a-z0-9]{{0,61}}[a-z0-9])?"
URL_PATTERN = rf"^https://{_HOST}(:{PORT})?(/[A-Za-z0-9._~%+-]+)+/?$"
COMMIT_PATTERN = "^[0-9a-f]{40}$"
_URL, _COMMIT = re.compile(URL_PATTERN), re.compile(COMMIT_PATTERN)


def repository_of(*layers: Workspace | None) -> GitRepository | None:
    """The repository of the last layer that names one; None: none does."""
    named = [one.git for one in layers if one is not None and one.git is not None]
    return named[-1] if named else None


def host_of(repository: GitRepository) -> str:
    """Its host, as passes for the egress proxy name it; ``:PORT`` when it is not 443."""
    parts = urlsplit(repository.url)
    port = "" if parts.port in (None, 443) else f":{parts.port}"
    return f"{parts.hostname}{port}"


def described(repository: GitRepository) -> str:
    """The repository in one line, for records."""
    below = "" if repository.path is None else f" {repository.path}"
    return f"{repository.url} {repository.commit}{below}"


def repository_problems(workspace: Workspace | None, field: str) -> Iterator[Problem]:
    """What is wrong with a repository, wherever the run is carried out; ``field``: workspace's."""
    if workspace is None or workspace.git is None:
        return
    git, field = workspace.git, f"{field}.git"
    yield from _url_problems(git.url, f"{field}.url")
    if not _COMMIT.fullmatch(git.commit):
        yield Problem(
            f"{field}.commit",
            f"{git.commit!r} is not the full id of a commit: 40 of 0-9 and a-f, in lower case",
            "branches and tags move while trials run: `git ls-remote URL REF` tells the id",
        )
    parts = (git.path or "").lower().split("/")
    if ".." in parts or ".git" in parts:
        wrong = ".." if ".." in parts else ".git"
        remedy = "name a folder of the commit, such as tasks/web"
        yield Problem(f"{field}.path", f"{git.path!r} has `{wrong}` in it", remedy)


def cell_problems(
    repository: GitRepository | None,
    image_path: str | None,
    offered: frozenset[EgressMode],
    field: str,
) -> Iterator[Problem]:
    """What only all layers together tell; ``offered``: modes of where the run is to go."""
    if repository is None:
        return
    if image_path is not None:
        yield Problem(
            f"{field}.git",
            f"the workspace is already the image's folder {image_path!r}",
            "keep either git or image; files and configMap are laid over both",
        )
    if EgressMode.ALLOW_LIST not in offered:
        yield Problem(
            f"{field}.git",
            "this cluster has no egress proxy, and repositories are fetched by it",
            "ask for egressProxy.enabled in the chart's values, or put the files into the image",
        )


def _url_problems(url: str, field: str) -> Iterator[Problem]:
    shown = _without_login(url)
    if shown != url:
        yield Problem(
            field,
            f"{shown!r} is written with a user name or password",
            "take it out, and name a Secret in git.secretRef",
        )
    elif not url.startswith("https://"):
        yield Problem(
            field, f"{url!r} is not read by https", "write https://HOST/PATH: nothing else is safe"
        )
    elif not _URL.fullmatch(url):
        yield Problem(
            field,
            f"{url!r} is not the URL of a repository",
            "write https://HOST/PATH, with the host's full name in lower case and no address",
        )


def _without_login(url: str) -> str:
    """The URL as it may be shown."""
    return re.sub(r"^([a-zA-Z0-9+.-]*://)?[^/]*@", r"\1", url)
