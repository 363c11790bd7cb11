"""Instants as Kubernetes writes them: RFC 3339 in UTC, whole seconds (pure)."""

from datetime import UTC, datetime


def rfc3339(at: datetime) -> str:
    """Write an aware instant; fractions of a second are dropped."""
    return at.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def instant(text: str) -> datetime:
    """Read an instant; ``ValueError`` when it has no offset or is none."""
    at = datetime.fromisoformat(text)
    if at.tzinfo is None:
        raise ValueError(f"{text!r} has no offset from UTC; write it like 2026-01-31T12:00:00Z")
    return at.astimezone(UTC)
