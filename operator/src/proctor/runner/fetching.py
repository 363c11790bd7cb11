"""Fetches a repository's commit into a folder, before anything of the task runs.

``stage`` does in a cluster, with a pass for the egress proxy; ``proctor run`` starts the phase
``fetch`` once for a run. Who may ask the server is in this process's environment alone.
"""

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from proctor.api.git import (
    DEFAULT_USERNAME,
    GIT_AUTHORITIES,
    GIT_AUTHORITIES_FILE,
    GIT_PASSWORD,
    GIT_PROXY,
    GIT_USERNAME,
)
from proctor.api.redaction import secrets_of
from proctor.runner.egress import proxy_url
from proctor.runner.fetch_places import FetchPlaces
from proctor.runner.fetched import TREE, write_notes
from proctor.runner.folders import wipe
from proctor.runner.git_errors import GitRefusedError, GitUnreachableError
from proctor.runner.places import EgressAccess
from proctor.runner.stopping import exit_on_signals

if TYPE_CHECKING:
    from proctor.runner.git_client import Access


def fetch(places: FetchPlaces) -> None:
    """Fill the folder; safe to repeat.

    Raises:
        GitRefusedError: Another try would end the same way.
        GitUnreachableError: Another try may succeed.
        OSError: The folder cannot take it.
    """
    exit_on_signals()
    if places.libraries is not None:
        sys.path.append(str(places.libraries))
    try:
        _fetch(places)
    except (GitRefusedError, GitUnreachableError) as error:
        # Last, because it is long, and what is too long is cut off on its way to a status.
        named = f"commit {places.source.commit} of {places.source.url}"
        raise type(error)(f"{error} ({named})") from error


def _fetch(places: FetchPlaces) -> None:
    from proctor.runner.git_checkout import check_out
    from proctor.runner.git_client import fetch_pack
    from proctor.runner.git_pack import open_pack

    wipe(places.target)
    tree, file = places.target / TREE, places.target / "fetched.pack"
    tree.mkdir()
    with file.open("wb") as written:
        found = fetch_pack(places.source, _access(places.egress, os.environ), written)
    with open_pack(file) as pack:
        notes = check_out(pack, places.source, found.shallow, tree)
    for left in places.target.glob("fetched.*"):
        left.unlink()
    write_notes(places.target, notes)
    for note in notes:
        print(note, flush=True)


def _access(egress: EgressAccess | None, environ: Mapping[str, str]) -> "Access":
    from proctor.runner.git_client import Access

    given = secrets_of(environ)
    password = given.get(GIT_PASSWORD)
    return Access(
        username=None if password is None else given.get(GIT_USERNAME) or DEFAULT_USERNAME,
        password=password,
        proxy=given.get(GIT_PROXY) if egress is None else proxy_url(egress),
        authorities=_authorities(given),
    )


def _authorities(given: Mapping[str, str]) -> str | None:
    file = given.get(GIT_AUTHORITIES_FILE)
    return given.get(GIT_AUTHORITIES) if file is None else Path(file).read_text()
