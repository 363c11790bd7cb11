"""How large a run is for the API server (pure).

`kubectl apply` keeps the whole document in an annotation, and all annotations together hold
256 KiB; `kubectl apply --server-side` does not, and an object holds 1.5 MiB with its status and
who owns which field. Source: https://kubernetes.io/docs/reference/using-api/server-side-apply.
"""

import json
from collections.abc import Mapping
from typing import Any

from proctor.api.errors import Problem
from proctor.planning.model import RunSource

KIB = 1024
MAX_APPLIED_BYTES = 200 * KIB
MAX_SERVER_SIDE_BYTES = 1024 * KIB

_SMALLER = (
    "send its tasks with `proctor push` and name the bundle in tasksFrom, move its script or "
    "cassette to a ConfigMap, or split it into runs of fewer tasks"
)
_SERVER_SIDE = (
    f"; up to {MAX_SERVER_SIDE_BYTES // KIB} KiB go with `kubectl apply --server-side` and "
    "`proctor validate --server-side`"
)


def applied_bytes(body: Mapping[str, Any]) -> int:
    """The document as kubectl writes it: compact JSON, with <, > and & as escapes."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    escapes = 5 * sum(text.count(character) for character in "<>&")
    return len(text.encode("utf-8", "surrogatepass")) + escapes


def size_problem(source: RunSource, *, server_side: bool) -> Problem | None:
    """What keeps a run that was read from a file from being applied to a cluster."""
    most = MAX_SERVER_SIDE_BYTES if server_side else MAX_APPLIED_BYTES
    if source.size_bytes is None or source.size_bytes <= most:
        return None
    how = "kubectl apply --server-side" if server_side else "kubectl apply"
    message = (
        f"EvalRun {source.name!r} is {-(-source.size_bytes // KIB)} KiB, and `{how}` takes "
        f"{most // KIB} KiB"
    )
    fits = not server_side and source.size_bytes <= MAX_SERVER_SIDE_BYTES
    return source.places.locate(Problem("spec", message, _SMALLER + (_SERVER_SIDE if fits else "")))
