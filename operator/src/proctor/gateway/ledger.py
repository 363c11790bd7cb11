"""The ledger: who called which model, what it cost, and whether a further call is allowed.

Limits are looked at and the call is booked in one step without waiting, so that parallel calls
cannot slip through together. A call is booked for what it may cost, and settled for what it did.
Every fact is written down before it counts, and runs are read again when somebody asks for them.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from proctor.api.usage import Bill, RunSpending, Usage
from proctor.gateway.account import Account, Role
from proctor.gateway.book import AGENT, Book
from proctor.gateway.entries import ledger_entries
from proctor.gateway.events import (
    AccountClosed,
    CallEnded,
    CallOpened,
    CallRefused,
    Digests,
    Fact,
    PriceNote,
)
from proctor.gateway.journal import Journal
from proctor.gateway.limits import Busy, Limit, Refusal
from proctor.gateway.run_book import RunBook
from proctor.pricing import Price, Prices
from proctor.wire.format import Reading


@dataclass(frozen=True, slots=True)
class Ask:
    """A call that somebody wants to make.

    Args:
        role: Whose key asks.
        reserved: What the call is taken for until it is settled.
    """

    model: str
    provider: str
    wire_format: str
    role: Role = AGENT
    reserved: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call that was booked and must be ended."""

    account: Account
    opened: CallOpened


@dataclass(frozen=True, slots=True)
class Ending:
    """How a call ended.

    Args:
        status: Of the answer; None: there was none.
        reading: What the answer said of itself.
        provider_failure: What went wrong at the provider; None: nothing.
        spent_nothing: Whether the provider took no money because it never answered.
        digests: Of request and answer; None: not known.
        miss: Why a cassette had no answer; None: it had one, or none was asked.
    """

    status: int | None
    reading: Reading = field(default_factory=Reading)
    provider_failure: str | None = None
    spent_nothing: bool = False
    digests: Digests | None = None
    miss: str | None = None


class Ledger:
    """All accounts of this gateway.

    Args:
        since: When it began: of what is older it may know nothing.
    """

    def __init__(
        self, journal: Journal, prices: Prices, now: Callable[[], datetime], *, since: datetime
    ) -> None:
        self._journal = journal
        self._prices = prices
        self._now = now
        self._since = since
        self._runs: dict[str, RunBook] = {}

    def open_call(self, account: Account, ask: Ask) -> OpenCall | Refusal | Busy:
        """Book a call before it is made, or say why it may not be made.

        Raises:
            OSError: When it cannot be written down; then it is not booked.
        """
        run = self._run(account.run)
        book = run.book(account.trial_uid, account.attempt)
        asked_usd = self._cost_usd(ask.model, ask.reserved, self._now())
        limit = self._limit(account, ask, run, book, asked_usd)
        if isinstance(limit, Refusal):
            self._refuse(account, book, ask, limit)
        if limit is not None:
            return limit
        opened = CallOpened(
            run_uid=account.run_uid,
            trial_uid=account.trial_uid,
            attempt=account.attempt,
            at=self._now(),
            call=os.urandom(16).hex(),
            mode=account.mode,
            model=ask.model,
            provider=ask.provider,
            wire_format=ask.wire_format,
            role=ask.role,
            reserved=ask.reserved,
            reserved_usd=asked_usd,
        )
        self._record(opened)
        return OpenCall(account, opened)

    def _limit(
        self, account: Account, ask: Ask, run: RunBook, book: Book, asked_usd: Decimal | None
    ) -> Limit:
        is_agent = ask.role == AGENT
        if is_agent and book.closed:
            return Refusal(None, "the trial is being graded: its model calls are over")
        budget = account.run_budget_usd if account.asks_provider else None
        limit = run.check(budget, asked_usd) if budget is not None else None
        if isinstance(limit, Refusal):
            return limit
        own = book.check(account.limits, ask.reserved, asked_usd) if is_agent else None
        if own is not None:
            return own
        has_limit = budget is not None or (is_agent and account.limits.max_usd is not None)
        if has_limit and not self._prices.is_priced(ask.model):
            whose = "this trial" if budget is None else "this run"
            return Refusal(None, f"model {ask.model!r} has no price, and {whose} has a money limit")
        return limit

    def _refuse(self, account: Account, book: Book, ask: Ask, refusal: Refusal) -> None:
        if ask.role != AGENT or book.closed or book.ended_with_refusal(refusal.limit):
            return
        self._record(
            CallRefused(
                run_uid=account.run_uid,
                trial_uid=account.trial_uid,
                attempt=account.attempt,
                at=self._now(),
                mode=account.mode,
                model=ask.model,
                limit=refusal.limit,
                reason=refusal.reason,
            )
        )

    def end_call(self, call: OpenCall, ending: Ending) -> CallEnded:
        """Book what a call used; the same call again changes nothing.

        Raises:
            OSError: When it cannot be written down; it counts in this process all the same.
        """
        opened, reading = call.opened, _settled(call.opened, ending)
        price = self._price(reading, opened)
        ended = CallEnded(
            run_uid=opened.run_uid,
            trial_uid=opened.trial_uid,
            attempt=opened.attempt,
            at=self._now(),
            call=opened.call,
            status=ending.status,
            usage=reading.usage,
            details=reading.details,
            cost_usd=None if price is None else price.usd,
            price=None if price is None else PriceNote.of(price),
            complete=reading.complete or ending.spent_nothing,
            estimated=reading.estimated,
            provider_failure=ending.provider_failure,
            stop_reason=reading.stop_reason,
            tools=reading.tools,
            digests=ending.digests,
            miss=ending.miss,
        )
        try:
            self._journal.append(ended)
        finally:
            self._run(ended.run).apply(ended)
        return ended

    def close(self, account: Account) -> None:
        """Serve no further call of the account's agent."""
        if not self._run(account.run).book(account.trial_uid, account.attempt).closed:
            self._record(
                AccountClosed(
                    run_uid=account.run_uid,
                    trial_uid=account.trial_uid,
                    attempt=account.attempt,
                    at=self._now(),
                )
            )

    def bill(
        self, trial_uid: str, attempt: int, opened_at: datetime | None, run_uid: str = ""
    ) -> Bill:
        """What an account used so far.

        Args:
            trial_uid: The trial.
            attempt: Its attempt.
            opened_at: From when its calls may date. What is older than this ledger may have spent
                what the ledger does not know of: then the cost is not complete.
            run_uid: Its run; empty: it belongs to none.
        """
        book = self._run(run_uid or trial_uid).books.get((trial_uid, attempt))
        bill = Bill() if book is None else book.bill()
        if opened_at is not None and opened_at < self._since:
            return replace(bill, cost_complete=False)
        return bill

    def spending(self, run_uid: str) -> RunSpending:
        """What a run used so far; nothing for one without a call."""
        return self._run(run_uid).spending()

    def running(self, run_uid: str) -> dict[tuple[str, int], Bill]:
        """The bills of a run's accounts that are not closed, by trial and attempt."""
        return {(uid, attempt): bill for uid, attempt, bill in self._run(run_uid).running()}

    def entries(self, trial_uid: str, attempt: int, run_uid: str = "") -> list[dict[str, Any]]:
        """One JSON object a call or refusal of an account, in order."""
        return ledger_entries(self._journal.of_attempt(run_uid or trial_uid, trial_uid, attempt))

    def forget(self, before: datetime) -> int:
        """Drop from memory what has been idle since ``before``; gives how many runs."""
        idle = [key for key, run in self._runs.items() if _is_idle_since(run, before)]
        for key in idle:
            del self._runs[key]
        return len(idle)

    def _run(self, key: str) -> RunBook:
        known = self._runs.get(key)
        if known is None:
            known = self._runs[key] = RunBook.of(self._journal.of_run(key))
            for opened in known.open_calls:
                self._lose(opened)
        return known

    def _lose(self, opened: CallOpened) -> None:
        """A process that was killed left the call open: it is spent, as far as it was reserved."""
        self._record(
            CallEnded(
                run_uid=opened.run_uid,
                trial_uid=opened.trial_uid,
                attempt=opened.attempt,
                at=self._now(),
                call=opened.call,
                status=None,
                usage=opened.reserved,
                cost_usd=opened.reserved_usd,
                estimated=True,
                lost=True,
            )
        )

    def _record(self, fact: Fact) -> None:
        self._journal.append(fact)
        self._run(fact.run).apply(fact)

    def _price(self, reading: Reading, opened: CallOpened) -> Price | None:
        if reading.usage is None:
            return None
        return self._prices.price(
            reading.usage, opened.model, reading.details, at=opened.at, tier=reading.tier
        )

    def _cost_usd(self, model: str, usage: Usage, at: datetime) -> Decimal | None:
        return self._prices.cost_usd(usage, model, at=at)


def _settled(opened: CallOpened, ending: Ending) -> Reading:
    """The reading with the reservation in place of figures that nobody saw."""
    reading = ending.reading
    failed_unseen = ending.status is None and ending.provider_failure is not None
    if reading.complete or reading.usage is not None or ending.spent_nothing or failed_unseen:
        return reading
    return replace(reading, usage=opened.reserved, estimated=True)


def _is_idle_since(run: RunBook, before: datetime) -> bool:
    return not run.open_calls and (run.last_at is None or run.last_at < before)
