"""ConfigMaps that a run's workspaces name: read once, when the run is planned."""

import asyncio
import base64
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from proctor.api.conditions import Reason
from proctor.api.errors import PlatformError
from proctor.controller.cluster import CONFIG_MAPS, Body, Cluster
from proctor.controller.seen import SeenRun

PATIENCE = timedelta(seconds=60)
LOOK_AGAIN = timedelta(seconds=5)


class AwaitedError(PlatformError):
    """Something that the run names cannot be had yet.

    Args:
        reason: Whether it is not there, or nobody says.
    """

    def __init__(self, message: str, reason: Reason = Reason.SOURCE_NOT_FOUND) -> None:
        super().__init__(message)
        self.reason = reason


async def read_config_maps(
    cluster: Cluster, run: SeenRun, now: datetime, *, started: bool
) -> Mapping[str, Mapping[str, bytes]]:
    """What they hold, by name and key.

    They may be applied a moment after the run: for a minute a missing one is awaited, then it is
    left out, and planning names it. A run that has ``started`` waits for as long as it takes.

    Raises:
        AwaitedError: One does not exist yet.
        ClusterError: The API server could not be asked.
    """
    names = sorted(set(_named(run.spec)))
    namespace = run.identity.namespace
    bodies = await asyncio.gather(*(cluster.get(CONFIG_MAPS, namespace, name) for name in names))
    found = {
        name: _held(body) for name, body in zip(names, bodies, strict=True) if body is not None
    }
    missing = [name for name in names if name not in found]
    if missing and (started or now < run.identity.created_at + PATIENCE):
        when = "any more" if started else "yet"
        raise AwaitedError(f"there is no ConfigMap {missing[0]!r} {when}")
    return found


def _named(spec: Mapping[str, Any]) -> Iterator[str]:
    """Names in a spec that may be invalid: planning says what is wrong with it."""
    for key in ("tasks", "variants"):
        for one in spec.get(key) or ():
            workspace = one.get("workspace") if isinstance(one, Mapping) else None
            named = workspace.get("configMap") if isinstance(workspace, Mapping) else None
            name = named.get("name") if isinstance(named, Mapping) else None
            if isinstance(name, str):
                yield name


def _held(body: Body) -> dict[str, bytes]:
    texts = {key: text.encode() for key, text in (body.get("data") or {}).items()}
    binary = body.get("binaryData") or {}
    return {**texts, **{key: base64.b64decode(text) for key, text in binary.items()}}
