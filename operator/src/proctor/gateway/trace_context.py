"""Which trace a call belongs to. Pure."""

import hashlib
import re
from dataclasses import dataclass

from proctor.gateway.account import Account

_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?")


@dataclass(frozen=True, slots=True)
class TraceContext:
    """The span that a call's span is a child of."""

    trace_id: int
    span_id: int
    is_sampled: bool = True


def trace_context(account: Account) -> TraceContext:
    """That of the account's ``traceparent``, else one that all calls of the attempt share."""
    return parsed(account.traceparent) or derived(account.trial_uid, account.attempt)


def parsed(traceparent: str) -> TraceContext | None:
    """Read a W3C ``traceparent``; None when it is none."""
    match = _TRACEPARENT.fullmatch(traceparent.strip())
    if match is None or traceparent.startswith("ff"):
        return None
    trace_id, span_id, flags = (int(part, 16) for part in match.groups())
    return TraceContext(trace_id, span_id, bool(flags & 1)) if trace_id and span_id else None


def derived(trial_uid: str, attempt: int) -> TraceContext:
    """The trace of an attempt, the same wherever it is made up."""
    digest = hashlib.sha256(f"proctor/{trial_uid}/{attempt}".encode()).digest()
    return TraceContext(int.from_bytes(digest[:16]), int.from_bytes(digest[16:24]))
