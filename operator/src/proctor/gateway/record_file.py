"""The file that a run is recorded to."""

import errno
import logging
import os
from collections.abc import Iterable
from pathlib import Path

from proctor.api.errors import SpecError
from proctor.gateway.cassette import AnsweredCall, AskedCall, Cassette, RecordedCall
from proctor.gateway.cassette_scrub import scrubbed
from proctor.gateway.cassette_text import END, head_text, parse_cassette
from proctor.gateway.record_writing import CallWriter, arranged, cassette_text
from proctor.gateway.seat import Seat

_BEGIN = b"cassette: "
_LOGGER = logging.getLogger("proctor.gateway")


class Recorder:
    """Appends calls to a cassette as they end; a run that is recorded anew replaces its file.

    A file that cannot be written disturbs no call: it is said once, in the log.

    Args:
        path: The cassette; folders on the way are made.
        recording: Which run it is: a process that goes on with the run goes on with the file.
    """

    def __init__(self, path: Path, recording: str) -> None:
        self.path = path
        self.problem: str | None = None
        self._recording = recording
        self._writer = CallWriter()
        self._number = 0
        self._is_open = False

    def add(
        self, seat: Seat, asked: AskedCall, answered: AnsweredCall, secrets: Iterable[str]
    ) -> None:
        """Write a call, without what is secret in it."""
        known = tuple(secrets)
        try:
            self._open()
            call = RecordedCall(
                number=self._number + 1,
                trial=seat.trial,
                role=seat.role,
                attempt=seat.attempt,
                asked=AskedCall(asked.wire_format, asked.operation, scrubbed(asked.body, known)),
                answered=AnsweredCall(
                    answered.status,
                    body=scrubbed(answered.body, known),
                    events=_tuple(scrubbed(answered.events, known)),
                    text=scrubbed(answered.text, known),
                ),
            )
            self._append(self._writer.text(call))
            self._number += 1
        except OSError as error:
            # What is in the file now is looked at again before the next call is written.
            self._is_open = False
            self.fail(f"{self.path} cannot be written: {error.strerror}")
        except (RecursionError, ValueError) as error:
            self.fail(f"a call is left out: {type(error).__name__}")

    def fail(self, problem: str) -> None:
        """A call is not in the cassette."""
        if self.problem is None:
            _LOGGER.error("recording: %s", problem)
        self.problem = problem

    def arrange(self) -> None:
        """Put the calls of a run that is over in order, so that recordings can be compared."""
        try:
            self._open()
            self._replace(arranged(self._read() or Cassette()))
        except OSError as error:
            self.fail(f"{self.path} cannot be written: {error.strerror}")

    def _open(self) -> None:
        """Go on with the file of the same run, or begin it."""
        if self._is_open:
            return
        self.path.parent.mkdir(parents=True, exist_ok=True)
        known = self._read() or Cassette()
        self._replace(known)
        self._writer = CallWriter()
        for call in known.calls:
            self._writer.remember(call)
        self._number = max((call.number for call in known.calls), default=0)
        self._is_open = True

    def _read(self) -> Cassette | None:
        """What is recorded of this run; None: nothing, or another run."""
        if not may_be_replaced(self.path):
            raise FileExistsError(errno.EEXIST, "it is there, and no cassette")
        try:
            text = self.path.read_text("utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        if not text.startswith(head_text(self._recording)):
            return None
        return _parsed(text)

    def _replace(self, cassette: Cassette) -> None:
        beside = self.path.with_name(f".{self.path.name}.new")
        beside.write_text(cassette_text(cassette, self._recording), "utf-8")
        beside.replace(self.path)

    def _append(self, text: str) -> None:
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(descriptor, "ab") as file:
            file.write(text.encode("utf-8", "replace"))


def may_be_replaced(path: Path) -> bool:
    """Whether a recording may take the place of what is there: nothing, or a cassette.

    Raises:
        OSError: When that cannot be seen.
    """
    try:
        with path.open("rb") as file:
            begin = file.read(len(_BEGIN))
    except FileNotFoundError:
        return True
    return begin in (b"", _BEGIN)


def _parsed(text: str) -> Cassette:
    """What is whole: a process that was killed may have left a last call unfinished."""
    whole, end, _ = text.rpartition(f"\n{END}")
    try:
        return parse_cassette(whole + end)
    except SpecError:
        return Cassette()


def _tuple(value: list[object] | None) -> tuple[object, ...] | None:
    return None if value is None else tuple(value)
