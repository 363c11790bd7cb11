"""The port ``Bundles``: tasks that lie on the results server, read once, when a run is planned.

A bundle is named by its digest, so it holds the same tasks whenever it is read: after a restart the
operator plans the same trials.
"""

import asyncio
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from pydantic import ValidationError

from proctor.api.conditions import Reason
from proctor.api.errors import PlatformError, Problem, SpecError
from proctor.api.record import RecordManifest
from proctor.api.results import DIGEST_SCHEME, MAX_BUNDLE_BYTES, NO_BUNDLE, TOKEN_HEADER, bundles_of
from proctor.api.task import Task
from proctor.controller.config_maps import AwaitedError
from proctor.controller.seen import SeenRun
from proctor.planning.bundle import HIDDEN_PART, PARTS, VISIBLE_PART, unpacked
from proctor.planning.bundles import bundle_field
from proctor.store.client import ResultsClient, ResultsError, part_path

MOST_BYTES = 32 << 20
"""Of a run's bundles together, times its variants: the operator holds the orders of all of them."""

_TIMEOUT_SECONDS = 10
_MANIFEST_BYTES = 64 << 10


class Bundles(Protocol):
    """Reads bundles."""

    async def parts(self, namespace: str, digest: str) -> Mapping[str, bytes] | None:
        """Content of its parts, by path; None: the namespace has no such bundle.

        Raises:
            PlatformError: It cannot be told now.
            SpecError: There is nowhere to ask; with the remedy.
        """


class NoBundles:
    """There is no results server."""

    async def parts(self, namespace: str, digest: str) -> Mapping[str, bytes] | None:
        """Never anything.

        Raises:
            SpecError: Always.
        """
        raise SpecError(
            [
                Problem(
                    "spec.tasksFrom",
                    "there is no results server here, which would hold the bundle",
                    "install it (results.enabled of the chart), or write tasks into the run",
                )
            ]
        )


class ResultsBundles:
    """Reads from the results server, with a token for its audience that the kubelet renews.

    Args:
        url: Base URL of its port for reading.
    """

    def __init__(self, url: str, token_file: Path) -> None:
        self._token_file = token_file
        url = url.rstrip("/")
        self._client = ResultsClient(url, self._headers, timeout_seconds=_TIMEOUT_SECONDS)

    async def parts(self, namespace: str, digest: str) -> Mapping[str, bytes] | None:
        """All of it, checked against the digest.

        Raises:
            PlatformError: The server cannot be reached, or gives what is not the bundle.
        """
        try:
            return await asyncio.to_thread(self._parts, namespace, digest)
        except ResultsError as error:
            if error.status == 404 and str(error).startswith(NO_BUNDLE):
                return None
            raise PlatformError(f"the results server: {error}") from error
        except (OSError, ValidationError) as error:
            raise PlatformError(f"the results server: {error}") from error

    def _parts(self, namespace: str, digest: str) -> Mapping[str, bytes]:
        base, sha256 = bundles_of(namespace), digest.removeprefix(DIGEST_SCHEME)
        manifest = self._read(f"{base}/{sha256}", sha256, _MANIFEST_BYTES)
        named = {part.path: part for part in RecordManifest.model_validate_json(manifest).parts}
        if tuple(sorted(named)) != PARTS:
            raise PlatformError(f"what the results server has as {digest} is no bundle")
        return {
            path: self._read(part_path(base, sha256, path), part.sha256, MAX_BUNDLE_BYTES)
            for path, part in named.items()
        }

    def _read(self, path: str, sha256: str, most_bytes: int) -> bytes:
        content = bytearray()
        for chunk in self._client.read(path):
            content += chunk
            if len(content) > most_bytes:
                raise OSError(f"more than {most_bytes} bytes")
        if hashlib.sha256(content).hexdigest() != sha256:
            raise OSError(f"what it has is not what {sha256} stands for")
        return bytes(content)

    def _headers(self) -> Mapping[str, str]:
        return {TOKEN_HEADER: self._token_file.read_text(encoding="ascii").strip()}


async def read_bundles(
    bundles: Bundles, run: SeenRun, *, started: bool
) -> Mapping[str, tuple[Task, ...]]:
    """Tasks of the bundles that a run names, by digest.

    Args:
        bundles: Where they lie.
        run: As the cluster shows it.
        started: Whether it has trials: then it waits for as long as it takes, and is never refused
            for what is only away.

    Raises:
        AwaitedError: One cannot be read now, or is gone although trials of the run were planned.
        SpecError: There is no such bundle, it holds what is no task, they are more than the
            operator can hold, or the run was cancelled before it started.
    """
    found: dict[str, tuple[Task, ...]] = {}
    left = MOST_BYTES // max(len(run.spec.get("variants") or ()), 1)
    for field, digest in _named(run.spec):
        parts = await _parts(bundles, run, field, digest, started=started)
        left -= sum(map(len, parts.values()))
        if left < 0:
            raise SpecError([_too_much()])
        content = (parts[VISIBLE_PART], parts[HIDDEN_PART])
        found[digest] = await asyncio.to_thread(unpacked, *content, field)
    return found


async def _parts(
    bundles: Bundles, run: SeenRun, field: str, digest: str, *, started: bool
) -> Mapping[str, bytes]:
    try:
        parts = await bundles.parts(run.identity.namespace, digest)
    except SpecError as error:
        if not started:
            raise
        raise AwaitedError(str(error), Reason.SOURCE_UNAVAILABLE) from error
    except PlatformError as error:
        if not started and run.spec.get("cancelled") is True:
            problem = f"{error}; the run was cancelled"
            raise SpecError(
                [Problem(f"{field}.digest", problem, "apply it under a new name")]
            ) from error
        raise AwaitedError(str(error), Reason.SOURCE_UNAVAILABLE) from error
    if parts is not None:
        return parts
    missing = _missing(run, field, digest)
    if started:
        raise AwaitedError(str(missing))
    raise SpecError([missing])


def _missing(run: SeenRun, field: str, digest: str) -> Problem:
    namespace = run.identity.namespace
    return Problem(
        f"{field}.digest",
        f"namespace {namespace} has no bundle {digest}",
        f"push it again in this namespace: proctor push FOLDER -n {namespace}",
    )


def _too_much() -> Problem:
    return Problem(
        "spec.tasksFrom",
        f"bundles times variants are more than {MOST_BYTES >> 20} MiB",
        "split it into runs of fewer tasks or variants, or lay large workspace files into images",
    )


def _named(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Fields and digests in a spec that may be invalid: planning says what is wrong with it."""
    for index, source in enumerate(spec.get("tasksFrom") or ()):
        bundle = source.get("bundle") if isinstance(source, Mapping) else None
        digest = bundle.get("digest") if isinstance(bundle, Mapping) else None
        if isinstance(digest, str) and digest.startswith(DIGEST_SCHEME):
            yield bundle_field(index), digest
