"""A manifest as it comes from outside: read, and refused when it leads out of its folder."""

import json

from pydantic import ValidationError

from proctor.api.record import MANIFEST, RecordManifest
from proctor.store.spool import BodyError, TooLargeError

_PATH_BYTES = 1024


def read_manifest(manifest: bytes, most_parts: int) -> RecordManifest:
    """Read a manifest.

    Raises:
        BodyError: It is none, or names a part twice or outside the folder.
        TooLargeError: It names more than ``most_parts``.
    """
    try:
        read = RecordManifest.model_validate(json.loads(manifest))
    except (ValidationError, ValueError, RecursionError) as error:
        raise BodyError(f"not a manifest: {type(error).__name__}") from None
    if len(read.parts) > most_parts:
        raise TooLargeError(f"{len(read.parts)} parts; at most {most_parts} are taken")
    paths = [part.path for part in read.parts]
    if len(set(paths)) != len(paths) or not all(map(is_inside, paths)):
        raise BodyError("the manifest names a part twice, or one outside the folder")
    return read


def is_inside(path: str) -> bool:
    """Whether a part's path stays below its folder, and is not the manifest's own."""
    pieces = path.split("/")
    return (
        path != MANIFEST
        and "\0" not in path
        and "\\" not in path
        and all(piece not in ("", ".", "..") for piece in pieces)
        and len(path.encode("utf-8", "surrogatepass")) <= _PATH_BYTES
    )
