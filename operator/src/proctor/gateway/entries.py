"""Facts of an attempt → the entries of its ledger, as ``grade`` puts them into the record."""

from collections.abc import Iterable
from dataclasses import asdict
from decimal import Decimal
from typing import Any

from proctor.gateway.events import CallEnded, CallOpened, CallRefused, Fact


def ledger_entries(facts: Iterable[Fact]) -> list[dict[str, Any]]:
    """One JSON object a call or refusal, in the order of their beginning."""
    entries: dict[str, dict[str, Any]] = {}
    for fact in facts:
        match fact:
            case CallOpened():
                entries[fact.call] = _opened(fact)
            case CallEnded() if fact.call in entries:
                entries[fact.call] |= {"endedAt": fact.at.isoformat(), **_known(fact)}
            case CallRefused():
                entries[f"refused-{len(entries)}"] = _refused(fact)
    return list(entries.values())


def _opened(fact: CallOpened) -> dict[str, Any]:
    nothing_yet = CallEnded(
        trial_uid=fact.trial_uid, attempt=fact.attempt, at=fact.at, call=fact.call, status=None
    )
    return {
        "startedAt": fact.at.isoformat(),
        "endedAt": None,
        "role": fact.role,
        "model": fact.model,
        "provider": fact.provider,
        "format": fact.wire_format,
        "mode": fact.mode,
        **_known(nothing_yet),
        "refused": None,
    }


def _known(fact: CallEnded) -> dict[str, Any]:
    return {
        "status": fact.status,
        "usage": None if fact.usage is None else asdict(fact.usage),
        "details": fact.details.known(),
        "costUsd": _money(fact.cost_usd),
        "price": None if fact.price is None else asdict(fact.price),
        "complete": fact.complete,
        "estimated": fact.estimated,
        "stopReason": fact.stop_reason,
        "tools": list(fact.tools),
        "requestSha256": fact.digests.request if fact.digests else None,
        "responseSha256": fact.digests.response if fact.digests else None,
        "miss": fact.miss,
        "error": fact.provider_failure,
    }


def _refused(fact: CallRefused) -> dict[str, Any]:
    return {
        "startedAt": fact.at.isoformat(),
        "endedAt": fact.at.isoformat(),
        "model": fact.model,
        "mode": fact.mode,
        "refused": fact.limit,
        "error": fact.reason,
    }


def _money(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"
