"""Asks the gateway to close the agent's account, and what the attempt used."""

import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from proctor.api.usage import Bill
from proctor.runner.printing import printable

_LEDGER = "/proctor/v1/ledger"
_CLOSE = "/proctor/v1/close"
_TRIES = 6
_PAUSE_SECONDS = 0.5  # doubled after each try: 15.5 s in all
_TIMEOUT_SECONDS = 20
_CLOSE_TRIES = 3
_CLOSE_TIMEOUT_SECONDS = 3
_MOST_BYTES = 64 << 20
_TEXT_CHARACTERS = 300
UNKNOWN = Bill(cost_usd=None, cost_complete=False)
"""The bill when the gateway cannot be asked: unknown is not free."""


class _UnknownKeyError(Exception):
    """The gateway knows no such key: asking again changes nothing."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The bill and its entries; ``problem`` says why they could not be had, or is None."""

    bill: Bill
    entries: tuple[Mapping[str, Any], ...] = ()
    problem: str | None = None


def close_account(gateway: str, key: str, pause_seconds: float = _PAUSE_SECONDS) -> str | None:
    """End the key that the agent had: what it left behind may have kept it.

    Never raises: says what went wrong, or None. Then ``read_ledger`` ends the key.
    """
    problem = None
    for attempt in range(_CLOSE_TRIES):
        if attempt:
            time.sleep(pause_seconds)
        try:
            status, said = _request("POST", gateway, _CLOSE, key, _CLOSE_TIMEOUT_SECONDS)
        except (OSError, http.client.HTTPException) as error:
            problem = f"{type(error).__name__}: {error}"
            continue
        if status < 500:
            return None if status == 204 else f"{status}: {said[:200]!r}"
        problem = f"{status}: {said[:200]!r}"
    return problem


def read_ledger(
    gateway: str | None, key: str | None, pause_seconds: float = _PAUSE_SECONDS
) -> Ledger:
    """The attempt's ledger; without a gateway nothing can have been used.

    Never raises: after six tries, or when the key is none, the bill is ``UNKNOWN``.
    """
    if gateway is None:
        return Ledger(Bill())
    problem = ""
    for attempt in range(_TRIES):
        if attempt:
            time.sleep(pause_seconds * 2 ** (attempt - 1))
        try:
            return _ask(gateway, key)
        except _UnknownKeyError as error:
            problem = str(error)
            break
        except (OSError, http.client.HTTPException, LookupError, TypeError, ValueError) as error:
            problem = f"{type(error).__name__}: {error}"
    return Ledger(UNKNOWN, problem=f"the gateway's ledger could not be read: {problem}")


def _ask(gateway: str, key: str | None) -> Ledger:
    status, data = _request("GET", gateway, _LEDGER, key, _TIMEOUT_SECONDS)
    if status == 401:
        raise _UnknownKeyError(f"401: {data[:200]!r}")
    if status != 200:
        raise ValueError(f"{status}: {data[:200]!r}")
    body = json.loads(data)
    return Ledger(_plain(Bill.from_json(body["bill"])), tuple(body["entries"]))


def _request(
    method: str, gateway: str, path: str, key: str | None, timeout_seconds: float
) -> tuple[int, bytes]:
    parts = urlsplit(gateway)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_seconds)
    try:
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        connection.request(method, parts.path + path, headers=headers)
        response = connection.getresponse()
        return response.status, response.read(_MOST_BYTES)
    finally:
        connection.close()


def _plain(bill: Bill) -> Bill:
    """A provider's words may echo what the agent sent: no text of it may break the verdict."""
    error, refused = bill.provider_error, bill.refused
    return replace(
        bill,
        provider_error=None if error is None else printable(str(error), _TEXT_CHARACTERS),
        refused=None if refused is None else printable(str(refused), _TEXT_CHARACTERS),
    )
