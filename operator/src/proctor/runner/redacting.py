"""Redacts what a phase keeps of an agent: events as they come, and reports. No pydantic."""

from dataclasses import replace

from proctor.agents.contract import Emit
from proctor.api.events import Event, TextChunk
from proctor.api.redaction import Redactor, StreamRedactor
from proctor.api.report import AgentReport, ShellResult

_Stream = tuple[str | None, str, bool]


class RedactedChunks:
    """Passes events on; text that comes in chunks is redacted across them.

    What is held back goes out before the next event that is no text.
    """

    def __init__(self, redactor: Redactor, emit: Emit) -> None:
        self._redactor, self._emit = redactor, emit
        self._streams: dict[_Stream, tuple[StreamRedactor, TextChunk]] = {}

    def add(self, event: Event) -> None:
        """Take an event."""
        if not isinstance(event, TextChunk):
            self._end_streams()
            self._emit(event)
            return
        key = (event.thread, event.generation, event.thinking)
        stream, _ = self._streams.get(key, (StreamRedactor(self._redactor), event))
        self._streams[key] = stream, event
        self._pass_on(event, stream.feed(event.text))

    def _end_streams(self) -> None:
        for stream, last in self._streams.values():
            self._pass_on(last, stream.end())
        self._streams.clear()

    def _pass_on(self, chunk: TextChunk, text: str) -> None:
        if text:
            self._emit(replace(chunk, text=text))


def redacted_report(report: AgentReport, redactor: Redactor) -> AgentReport:
    """The report with its texts redacted."""
    return replace(
        report,
        reason=redactor.text(report.reason),
        pre_run=tuple(redacted_shell(one, redactor) for one in report.pre_run),
    )


def redacted_shell(result: ShellResult, redactor: Redactor) -> ShellResult:
    """A command's result with its texts redacted."""
    return replace(
        result, command=redactor.text(result.command), output=redactor.text(result.output)
    )
