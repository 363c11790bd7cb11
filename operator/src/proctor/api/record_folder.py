"""Reads a record folder back, and proves that it is the one that its digest stands for."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from proctor.api.errors import PlatformError
from proctor.api.record import EXECUTION, MANIFEST, Execution, Grading, RecordManifest, RecordPart


class RecordError(PlatformError):
    """A record is incomplete, changed, or of another version; the message names the part."""


@dataclass(frozen=True, slots=True)
class Record:
    """A verified record; ``gradings`` ordered by number, at least one."""

    folder: Path
    digest: str
    manifest: RecordManifest
    execution: Execution
    gradings: tuple[Grading, ...]


def read_record(folder: Path, digest: str | None = None) -> Record:
    """Read a record and check every part against the manifest.

    Args:
        folder: The record's folder.
        digest: What the manifest's SHA-256 must be; None takes it as it is.

    Raises:
        RecordError: When a part is missing, added to, changed, or not of its schema.
    """
    manifest_bytes = _read(folder, MANIFEST)
    found = hashlib.sha256(manifest_bytes).hexdigest()
    if digest is not None and found != digest:
        raise RecordError(f"{folder}: {MANIFEST} has digest {found}, expected {digest}")
    try:
        manifest = RecordManifest.model_validate_json(manifest_bytes)
        parts = {part.path: _verified(folder, part) for part in manifest.parts}
        execution = Execution.model_validate_json(parts[EXECUTION])
        gradings = [
            Grading.model_validate_json(data)
            for path, data in parts.items()
            if path.startswith("grading/")
        ]
    except (ValidationError, KeyError) as error:
        raise RecordError(f"{folder}: {error}") from error
    ordered = tuple(sorted(gradings, key=lambda grading: grading.number))
    return Record(folder, found, manifest, execution, ordered)


def _verified(folder: Path, part: RecordPart) -> bytes:
    if part.path.startswith("/") or ".." in part.path.split("/"):
        raise RecordError(f"{folder}: part {part.path!r} is outside the record")
    data = _read(folder, part.path)
    if len(data) != part.size or hashlib.sha256(data).hexdigest() != part.sha256:
        raise RecordError(f"{folder}: {part.path} is not what {MANIFEST} says")
    return data


def _read(folder: Path, path: str) -> bytes:
    try:
        return (folder / path).read_bytes()
    except OSError as error:
        raise RecordError(f"{folder}: {path}: {error.strerror}") from error
