"""What one criterion's judging came to, as the worker says it and ``grade`` hears it."""

import json
from dataclasses import dataclass, field
from typing import Any, Self

from proctor.api.verdict import Scored, Unscored, Verdict
from proctor.runner.printing import printable

EXHAUSTED = (MemoryError, RecursionError, SystemError)
"""What evidence raises that takes all memory or depth: limits, since no harmless sample does.

When memory ends while another error unwinds, the interpreter raises SystemError instead of it.
"""


@dataclass(frozen=True, slots=True)
class Judgement:
    """One criterion's verdict, by its index.

    Args:
        seconds: Time that judging took.
        absent: Files that it looked for and that are no data, and why; at most 100.
        checks_seconds: Wall time of the phase ``checks``, as it claims; None: not known.
    """

    index: int
    verdict: Verdict
    seconds: float
    absent: dict[str, str] = field(default_factory=dict)
    checks_seconds: float | None = None

    def to_line(self) -> bytes:
        """Write it as one line."""
        body: dict[str, Any] = {"index": self.index, "seconds": self.seconds}
        if isinstance(self.verdict, Scored):
            body["score"] = self.verdict.score
            body["text"] = printable(self.verdict.explanation)
            body["measures"] = dict(self.verdict.measures)
        else:
            body["text"] = printable(self.verdict.reason)
        names = list(self.absent.items())[:100]
        body["absent"] = {printable(path, 500): why for path, why in names}
        body["checks_seconds"] = self.checks_seconds
        return json.dumps(body).encode() + b"\n"

    @classmethod
    def from_line(cls, line: bytes) -> Self:
        """Read what ``to_line`` wrote."""
        body = json.loads(line)
        verdict: Verdict = Unscored(body["text"])
        if "score" in body:
            verdict = Scored(body["score"], body["text"], body["measures"])
        return cls(body["index"], verdict, body["seconds"], body["absent"], body["checks_seconds"])
