"""Keys of requests, and errors of our own in the shape of the API that a client speaks."""

from dataclasses import replace

from aiohttp import web

from proctor.gateway.account import Account, Accounts, Admitted, Operator, Refused
from proctor.wire.format import WireFormat

_KEY_HEADERS = ("x-api-key", "x-goog-api-key", "api-key")
"""As clients of Anthropic, Google and Azure send their key."""


class CallError(Exception):
    """A request that gets an error of ours.

    Args:
        status: HTTP status.
        message: For the client.
        final: Whether the client is told not to try again.
    """

    def __init__(self, status: int, message: str, *, final: bool = True) -> None:
        super().__init__(message)
        self.status = status
        self.final = final


class UnservedError(CallError):
    """No provider serves the model that was asked for."""

    def __init__(self, model: str, wire_format: str) -> None:
        super().__init__(404, f"no provider serves model {model!r} by {wire_format}")
        self.model = model


def error_response(wire_format: WireFormat, error: CallError) -> web.Response:
    """Write an error; ``x-should-retry`` is what the official SDKs obey."""
    return web.Response(
        status=error.status,
        body=wire_format.error(error.status, str(error)),
        content_type="application/json",
        headers={"x-should-retry": "false"} if error.final else {},
    )


async def holder(accounts: Accounts, http: web.Request) -> Admitted | Operator:
    """Who sends a request.

    Raises:
        CallError: When its key is missing, unknown or not served.
        PlatformError: When that cannot be said now.
    """
    key = _key(http)
    if key is None:
        raise CallError(401, "no API key: send it as x-api-key or as a bearer token")
    found = await accounts.find(key)
    if isinstance(found, Refused):
        raise CallError(found.status, found.reason)
    return found


async def caller(accounts: Accounts, http: web.Request) -> Account:
    """The account that a model call is booked to; ``CallError`` for the operator."""
    found = await holder(accounts, http)
    if isinstance(found, Operator):
        raise CallError(403, "this key makes no model calls")
    account = found.account
    sent = account.traceparent or http.headers.get("traceparent", "")
    if (account.role, account.traceparent) == (found.role, sent):
        return account
    return replace(account, role=found.role, traceparent=sent)


async def judge_account(accounts: Accounts, http: web.Request) -> Account:
    """The account whose judge sends a request; ``CallError`` for anybody else."""
    found = await holder(accounts, http)
    if isinstance(found, Operator) or found.role != "judge":
        raise CallError(403, "only grade reads the ledger")
    return found.account


def _key(http: web.Request) -> str | None:
    for name in _KEY_HEADERS:
        if key := http.headers.get(name):
            return key
    scheme, _, token = http.headers.get("authorization", "").partition(" ")
    bearer = token.strip() if scheme.lower() == "bearer" else ""
    # Clients of Gemini may write their key into the URL.
    return bearer or http.query.get("key") or None
