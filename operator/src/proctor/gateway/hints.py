"""What providers say in their headers about how fast they may be asked. Pure.

Sources: https://docs.anthropic.com/en/api/rate-limits and
https://platform.openai.com/docs/guides/rate-limits (2026-11); ``retry-after`` is RFC 9110 10.2.3.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|h|m|s)")
_UNIT_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

REQUESTS, TOKENS = "requests", "tokens"
_ANTHROPIC_KINDS = ("requests", "tokens", "input-tokens", "output-tokens")


@dataclass(frozen=True, slots=True)
class Window:
    """How much of one limit is left.

    Args:
        name: Which limit; a provider has several.
        counts: ``requests`` or ``tokens``.
        limit: All of it; None: not told.
        reset_seconds: Until it is whole again.
    """

    name: str
    counts: str
    remaining: float
    limit: float | None
    reset_seconds: float


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """How long the provider asks to wait, 0 or more; None: it does not say.

    The plain hints win; without one a limit that is used up says when it is whole again.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after")
    if text:
        seconds = _number(text)
        return seconds if seconds is not None else _until(_http_date(text), now)
    used_up = [w.reset_seconds for w in windows(headers, now) if w.remaining < 1]
    return max(used_up, default=None)


def windows(headers: Mapping[str, str], now: datetime) -> Iterator[Window]:
    """The limits that an answer tells of; header names are in lower case."""
    if not any("ratelimit" in name for name in headers):
        return
    for kind in (REQUESTS, TOKENS):
        remaining = _number(headers.get(f"x-ratelimit-remaining-{kind}"))
        reset = duration_seconds(headers.get(f"x-ratelimit-reset-{kind}", ""))
        if remaining is not None and reset is not None:
            limit = _number(headers.get(f"x-ratelimit-limit-{kind}"))
            yield Window(kind, kind, remaining, limit, reset)
    for kind in _ANTHROPIC_KINDS:
        remaining = _number(headers.get(f"anthropic-ratelimit-{kind}-remaining"))
        reset = _until(_instant(headers.get(f"anthropic-ratelimit-{kind}-reset", "")), now)
        if remaining is not None and reset is not None:
            limit = _number(headers.get(f"anthropic-ratelimit-{kind}-limit"))
            counts = REQUESTS if kind == REQUESTS else TOKENS
            yield Window(kind, counts, remaining, limit, reset)


def duration_seconds(text: str) -> float | None:
    """Seconds of ``1s``, ``6m0s``, ``20ms`` or a bare number; None: it is none of these."""
    number = _number(text)
    if number is not None:
        return number
    parts = _DURATION.findall(text)
    if not parts or "".join(value + unit for value, unit in parts) != text:
        return None
    return sum(float(value) * _UNIT_SECONDS[unit] for value, unit in parts)


def _number(text: str | None) -> float | None:
    """A finite number of 0 or more."""
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if 0 <= number < 1e12 else None


def _until(moment: datetime | None, now: datetime) -> float | None:
    return None if moment is None else max(0.0, (moment - now).total_seconds())


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _instant(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else None
