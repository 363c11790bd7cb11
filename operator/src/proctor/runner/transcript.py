"""Writes what an agent does as it goes: ``transcript.jsonl``, bounded and redacted."""

import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from proctor.api.events import AgentEnd, Event, to_json
from proctor.api.redaction import Redactor
from proctor.api.report import TRANSCRIPT

MAX_BYTES = 8 * 1024 * 1024
_MAX_TEXT = 64 * 1024
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Transcript:
    """Events of one agent, one JSON object a line, in the file and in memory.

    The file is for whoever looks when the runner itself was killed. An agent may write to it too,
    so the phase writes it again from memory once nothing else runs.
    """

    def __init__(self, folder: Path, redactor: Redactor) -> None:
        self._redactor = redactor
        descriptor = os.open(folder / TRANSCRIPT, _CREATE, 0o644)
        self._file = open(descriptor, "wb", buffering=0)  # noqa: SIM115 - closed in close()
        self._lines: list[bytes] = []
        self._bytes = 0
        self.dropped = 0
        self.last_end: AgentEnd | None = None

    def add(self, event: Event) -> None:
        """Append an event; beyond 8 MiB only ends are kept, and the others are counted."""
        body = _cut(self._redactor.value(to_json(event)))
        line = json.dumps(body, default=repr).encode() + b"\n"
        is_end = isinstance(event, AgentEnd)
        if isinstance(event, AgentEnd):
            self.last_end = event
        if not is_end and self._bytes + len(line) > MAX_BYTES:
            self.dropped += 1
            return
        self._append(line)

    def close(self) -> bytes:
        """End it; the whole content, with a last line that counts what was dropped."""
        if self.dropped:
            note = {"event": "Truncated", "at": utc_now(), "dropped": self.dropped}
            self._append(json.dumps(note).encode() + b"\n")
        self._file.close()
        return b"".join(self._lines)

    def _append(self, line: bytes) -> None:
        self._lines.append(line)
        self._bytes += len(line)
        try:
            self._file.write(line)
        except OSError:  # a full volume is the agent's doing; memory still has the line
            return


def utc_now() -> str:
    """This moment, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _cut(value: Any) -> Any:
    """Cut every text in an event to 64 KiB."""
    if isinstance(value, str):
        return value if len(value) <= _MAX_TEXT else value[:_MAX_TEXT] + "… (cut)"
    if isinstance(value, Mapping):
        return {str(key): _cut(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_cut(item) for item in value]
    return value
