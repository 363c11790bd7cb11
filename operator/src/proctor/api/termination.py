"""The verdict of a trial as it travels in the termination message of ``grade``: ≤ 1,000 bytes.

Standard library only. Short keys, because the kubelet cuts an oversize message into broken JSON.
Scores by criterion index; one short reason, cut until all of it fits.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Self

from proctor.api.outcome import FailureClass, Outcome
from proctor.api.ratio import ratio_text
from proctor.api.usage import Bill, Usage

MAX_BYTES = 1000
_VERSION = 1
_LETTERS = {"Live": "L", "Record": "R", "Replay": "P", "Scripted": "S"}
_MODES = {letter: mode for mode, letter in _LETTERS.items()}


class TerminationError(ValueError):
    """A termination message is not a verdict of this trial and attempt."""


@dataclass(frozen=True, slots=True)
class TrialVerdict:
    """What ``grade`` says of a trial.

    Args:
        trial_uid: UID of the trial that was graded.
        score: In [0, 1]; None: not measured.
        scores: By criterion index; None: it could not be checked.
        passed: By criterion index: reached its threshold.
        turns: Main-thread model calls; None: unknown.
        agent_ms, checks_ms, grade_ms: Wall time; None: did not run.
        digest: SHA-256 of the record, hexadecimal.
        failure_class: Whose fault it is that there is no score, where that is shown; else None.
        reason: First failing criterion and why, or why there is no score; may be cut.
        stored: Whether the results server has the record; None: it was not asked to.
        not_stored: Why it has not.
    """

    trial_uid: str
    attempt: int
    outcome: Outcome
    score: Decimal | None
    scores: tuple[Decimal | None, ...]
    passed: tuple[bool, ...]
    bill: Bill
    turns: int | None
    agent_ms: int | None
    checks_ms: int | None
    grade_ms: int | None
    digest: str
    reason: str = ""
    failure_class: FailureClass | None = None
    stored: bool | None = None
    not_stored: str = ""

    def to_message(self) -> bytes:
        """Write it in at most 1,000 bytes, cutting ``reason``, then ``not_stored``, as needed.

        Raises:
            ValueError: When it does not fit without any reason (too many criteria).
        """
        body = json.dumps(self._body(), ensure_ascii=False, separators=(",", ":")).encode()
        if len(body) <= MAX_BYTES:
            return body
        surplus = len(body) - MAX_BYTES
        if self.reason:
            return replace(self, reason=_shorter(self.reason, surplus)).to_message()
        if self.not_stored:
            return replace(self, not_stored=_shorter(self.not_stored, surplus)).to_message()
        raise ValueError(f"verdict of {len(body)} bytes; at most {MAX_BYTES} fit")

    def _body(self) -> dict[str, Any]:
        usage, cost = self.bill.usage, self.bill.cost_usd
        return {
            "v": _VERSION,
            "t": self.trial_uid,
            "a": self.attempt,
            "o": self.outcome.value,
            "s": _text(self.score),
            "c": [_text(score) for score in self.scores],
            "p": "".join("1" if passed else "0" for passed in self.passed),
            "u": [usage.input, usage.output, usage.cache_read, usage.cache_write],
            "n": self.bill.calls,
            "$": None if cost is None else f"{cost:f}",
            "$c": int(self.bill.cost_complete),
            "m": _LETTERS[self.bill.mode],
            "x": self.bill.refused,
            "k": self.turns,
            "ms": [self.agent_ms, self.checks_ms, self.grade_ms],
            "d": self.digest,
            "r": self.reason,
            **({"f": self.failure_class.value} if self.failure_class else {}),
            **({} if self.stored is None else {"st": 1 if self.stored else self.not_stored}),
        }

    @classmethod
    def from_message(cls, message: str) -> Self:
        """Read a termination message.

        Raises:
            TerminationError: When it is not a verdict; the message says what is wrong.
        """
        try:
            body: Mapping[str, Any] = json.loads(message)
            if body["v"] != _VERSION:
                raise TerminationError(f"verdict version {body['v']!r}; this reads {_VERSION}")
            cost = body["$"]
            input_, output, cache_read, cache_write = (int(count) for count in body["u"])
            return cls(
                trial_uid=str(body["t"]),
                attempt=int(body["a"]),
                outcome=Outcome(body["o"]),
                score=_ratio(body["s"]),
                scores=tuple(_ratio(score) for score in body["c"]),
                passed=tuple(flag == "1" for flag in body["p"]),
                bill=Bill(
                    calls=int(body["n"]),
                    usage=Usage(input_, output, cache_read, cache_write),
                    cost_usd=None if cost is None else Decimal(cost),
                    cost_complete=bool(body["$c"]),
                    mode=_MODES[body["m"]],
                    refused=body["x"],
                ),
                turns=body["k"],
                agent_ms=body["ms"][0],
                checks_ms=body["ms"][1],
                grade_ms=body["ms"][2],
                digest=str(body["d"]),
                reason=str(body["r"]),
                failure_class=FailureClass(body["f"]) if body.get("f") else None,
                stored=body["st"] == 1 if "st" in body else None,
                not_stored="" if body.get("st") in (None, 1) else str(body["st"]),
            )
        except TerminationError:
            raise
        except (KeyError, TypeError, ValueError, ArithmeticError, IndexError) as error:
            raise TerminationError(f"not a verdict: {type(error).__name__}: {error}") from error


def _text(score: Decimal | None) -> str | None:
    return None if score is None else ratio_text(score)


def _shorter(text: str, surplus: int) -> str:
    """Cut some; a character takes at most four bytes."""
    keep = max(0, len(text) - max(1, surplus // 4) - 1)
    shorter = text[:keep].rstrip("…")
    return shorter + "…" if shorter else ""


def _ratio(text: str | None) -> Decimal | None:
    if text is None:
        return None
    value = Decimal(text)
    if not (value.is_finite() and 0 <= value <= 1):
        raise TerminationError(f"score {text!r} is not in [0, 1]")
    return value
