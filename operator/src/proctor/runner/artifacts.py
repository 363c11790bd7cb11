"""Keeps files of the frozen workspace in the record, as data, within limits that are named."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from proctor.api.evidence import EvidenceLimitError
from proctor.api.orders import ArtifactsOrder
from proctor.api.record import ARTIFACTS, ARTIFACTS_PART, RecordArtifacts, RecordPart
from proctor.api.redaction import Redactor
from proctor.runner.capture import CapturedWorkspace
from proctor.runner.printing import printable
from proctor.runner.record import to_part

MOST_FILES = 2_000
_NAMED = 200
_NAME_BYTES = 900


def keep_artifacts(
    order: ArtifactsOrder | None, workspace: Path, redactor: Redactor, record: Path
) -> Sequence[RecordPart]:
    """Copy what is asked for into the record's folder; its parts, ``artifacts.json`` last.

    What does not fit is left out and named, smaller files after it are still taken. Secret values
    are taken out of what is copied.
    """
    if order is None:
        return ()
    taking = _Taking(order, CapturedWorkspace(workspace), redactor, record)
    for path in taking.wanted():
        taking.take(path)
    data = to_part(taking.summary())
    (record / ARTIFACTS_PART).write_bytes(data)
    summary = RecordPart(
        path=ARTIFACTS_PART, sha256=hashlib.sha256(data).hexdigest(), size=len(data)
    )
    return [*taking.parts, summary]


class _Taking:
    def __init__(
        self,
        order: ArtifactsOrder,
        captured: CapturedWorkspace,
        redactor: Redactor,
        record: Path,
    ) -> None:
        self._order = order
        self._captured = captured
        self._redactor = redactor
        self._record = record
        self._left_out: dict[str, str] = {}
        self._left_out_files = 0
        self._size = 0
        self.parts: list[RecordPart] = []

    def wanted(self) -> Iterator[str]:
        """Files that match any glob, each once."""
        seen: set[str] = set()
        for glob in self._order.paths:
            try:
                found = self._captured.paths(glob)
            except EvidenceLimitError as error:
                self._leave(glob, str(error))
                continue
            for path in found:
                if path not in seen:
                    seen.add(path)
                    yield path

    def take(self, path: str) -> None:
        """Copy one file, or note why not."""
        if not _is_text(path):
            self._leave(path, "its name is too long, or no plain text")
        elif len(self.parts) >= MOST_FILES:
            self._leave(path, f"more than {MOST_FILES} files")
        else:
            self._copy(path)

    def summary(self) -> RecordArtifacts:
        """What was kept and what was not."""
        return RecordArtifacts(
            paths=self._order.paths,
            files=len(self.parts),
            size_bytes=self._size,
            left_out=self._left_out,
            left_out_files=self._left_out_files,
        )

    def _copy(self, path: str) -> None:
        target = self._record / ARTIFACTS / path
        target.parent.mkdir(parents=True, exist_ok=True)
        left = self._order.max_bytes - self._size
        with target.open("w+b") as file:
            size = self._captured.copy(path, file, left)
            written = self._redact(file)
            file.seek(0)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if size is None or size > left:
            os.unlink(target)
            most = self._order.max_bytes >> 20
            why = self._captured.absent.get(path, "not a regular file, or not there")
            self._leave(path, why if size is None else f"{size} bytes; {most} MiB are kept in all")
            return
        self._size += written
        self.parts.append(RecordPart(path=f"{ARTIFACTS}/{path}", sha256=digest, size=written))

    def _redact(self, file: BinaryIO) -> int:
        """Take secrets out of a copy; gives its size."""
        written = file.tell()
        file.seek(0)
        found = file.read()
        kept = self._redactor.data(found)
        if kept is found or kept == found:
            return written
        file.seek(0)
        file.write(kept)
        file.truncate()
        return len(kept)

    def _leave(self, path: str, why: str) -> None:
        self._left_out_files += 1
        if len(self._left_out) < _NAMED:
            self._left_out[printable(path, 300)] = why


def _is_text(path: str) -> bool:
    """Whether every reader of the record can make a file of that name."""
    try:
        encoded = path.encode()
    except UnicodeEncodeError:
        return False
    return path.isprintable() and "\\" not in path and len(encoded) <= _NAME_BYTES
