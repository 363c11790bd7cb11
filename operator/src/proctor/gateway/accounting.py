"""What ``grade`` and the operator ask of the ledger. Errors are ``{"error": message}``."""

from dataclasses import replace
from datetime import datetime

from aiohttp import web

from proctor.api.errors import PlatformError
from proctor.api.usage import Bill
from proctor.gateway.account import Account, Operator
from proctor.gateway.ledger import Ledger
from proctor.gateway.replies import CallError, holder, judge_account
from proctor.gateway.service import Service


def account_bill(ledger: Ledger, account: Account) -> Bill:
    """The bill of an account; without a call it is zero, and in the account's mode."""
    bill = ledger.bill(account.trial_uid, account.attempt, account.opened_at, account.run_uid)
    return replace(bill, mode=account.mode)


class Accounting:
    """Serves ledgers and bills."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def ledger(self, http: web.Request) -> web.Response:
        """``GET /proctor/v1/ledger``, by the judge's key: closes the agent's account first."""
        try:
            account = await judge_account(self._service.accounts, http)
            ledger = self._service.ledger
            ledger.close(account)
            self._service.admission.look_again(account.run)
        except (CallError, PlatformError, OSError) as error:
            return _failure(error)
        entries = ledger.entries(account.trial_uid, account.attempt, account.run_uid)
        return web.json_response(
            {"bill": account_bill(ledger, account).to_json(), "entries": entries}
        )

    async def close(self, http: web.Request) -> web.Response:
        """``POST /proctor/v1/close``, by either key of an attempt: its agent's calls are over.

        The runner sends it when the agent has ended. An agent that does harms only itself.
        """
        try:
            found = await holder(self._service.accounts, http)
            if isinstance(found, Operator):
                raise CallError(403, "this key has no account")
            self._service.ledger.close(found.account)
            self._service.admission.look_again(found.account.run)
        except (CallError, PlatformError, OSError) as error:
            return _failure(error)
        return web.Response(status=204)

    async def bill(self, http: web.Request) -> web.Response:
        """``GET /proctor/v1/bills/{trial_uid}/{attempt}?run=UID&since=TIME``, by the operator.

        ``run`` is whose ledger it is in. ``since`` is when the attempt began. Without it a bill
        without calls is not complete, because a ledger cannot know what it was not there for.
        """
        try:
            await self._only_operator(http)
            trial_uid, attempt = http.match_info["trial_uid"], _attempt(http)
            since = _since(http)
            run_uid = http.query.get("run", "")
            bill = self._service.ledger.bill(trial_uid, attempt, since, run_uid)
        except (CallError, PlatformError, OSError, ValueError) as error:
            return _failure(error)
        if since is None and bill.calls == 0:
            bill = replace(bill, cost_complete=False)
        return web.json_response(bill.to_json())

    async def spending(self, http: web.Request) -> web.Response:
        """``GET /proctor/v1/runs/{run_uid}``, by the operator: what a run used so far.

        With ``?running=true`` also the bills of accounts that ``grade`` has not closed, by trial
        and attempt.
        """
        try:
            await self._only_operator(http)
            run_uid = http.match_info["run_uid"]
            spending = self._service.ledger.spending(run_uid)
            wants_running = http.query.get("running") == "true"
            running = self._service.ledger.running(run_uid) if wants_running else {}
        except (CallError, PlatformError, OSError, ValueError) as error:
            return _failure(error)
        bills = {f"{uid}/{attempt}": bill.to_json() for (uid, attempt), bill in running.items()}
        return web.json_response({"run": spending.to_json(), "running": bills})

    async def _only_operator(self, http: web.Request) -> None:
        if not isinstance(await holder(self._service.accounts, http), Operator):
            raise CallError(403, "only the operator reads bills")


def _attempt(http: web.Request) -> int:
    text = http.match_info["attempt"]
    if not text.isascii() or not text.isdigit():
        raise CallError(400, f"attempt {text!r} is not a number")
    return int(text)


def _since(http: web.Request) -> datetime | None:
    text = http.query.get("since")
    if text is None:
        return None
    try:
        since = datetime.fromisoformat(text)
    except ValueError:
        raise CallError(400, f"since={text!r} is not a time such as 2025-01-31T12:00:00Z") from None
    if since.tzinfo is None:
        raise CallError(400, f"since={text!r} has no time zone; add Z")
    return since


def _failure(error: Exception) -> web.Response:
    status = 400 if isinstance(error, ValueError) else 503
    status = error.status if isinstance(error, CallError) else status
    return web.json_response({"error": str(error)}, status=status)
