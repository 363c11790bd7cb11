"""The gateway inside another process: ``proctor run`` and tests. Listens on 127.0.0.1 only."""

from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from proctor.api.usage import Bill, RunSpending
from proctor.gateway.account import Account
from proctor.gateway.accounting import account_bill
from proctor.gateway.admission import Admission
from proctor.gateway.http_upstream import HttpUpstream, client_session
from proctor.gateway.ledger_files import open_ledger
from proctor.gateway.local_accounts import Keys, LocalAccounts
from proctor.gateway.providers import Provider
from proctor.gateway.record_upstream import RecordUpstream
from proctor.gateway.replay_upstream import ReplayUpstream
from proctor.gateway.retries import Retries, Timeouts
from proctor.gateway.scripted_upstream import ScriptedUpstream
from proctor.gateway.server import application, serve
from proctor.gateway.service import Service, utc_now
from proctor.gateway.traced import TraceTarget, traced
from proctor.gateway.watch import NoWatch, Watch
from proctor.pricing import Prices

_DRAIN_SECONDS = 1.0


class LocalGateway:
    """A gateway for as long as the context lasts.

    Args:
        providers: For mode ``Live``; their keys stay in here.
        ledger_dir: Where facts are kept; None: in memory only.
        prices: None: those that come with Proctor.
        retries: Of calls that a provider failed; None: the default.
        timeouts: Of providers and clients; None: the default.
        watch: Is told of calls as they begin and end; None: nobody is.
        traces: Where calls go as spans; None: nowhere.
    """

    def __init__(
        self,
        providers: Sequence[Provider] = (),
        *,
        ledger_dir: Path | None = None,
        prices: Prices | None = None,
        retries: Retries | None = None,
        timeouts: Timeouts | None = None,
        watch: Watch | None = None,
        traces: TraceTarget | None = None,
    ) -> None:
        self._providers = tuple(providers)
        self._ledger_dir = ledger_dir
        self._prices = prices or Prices()
        self._retries = retries
        self._timeouts = timeouts or Timeouts()
        self._watch = watch or NoWatch()
        self._traces = traces
        self._accounts = LocalAccounts()
        self._stack = AsyncExitStack()
        self._admitted: dict[tuple[str, int], Account] = {}
        self.url = ""
        """``http://127.0.0.1:PORT`` inside the context."""

    async def __aenter__(self) -> Self:
        self._ledger, journal = open_ledger(self._ledger_dir, self._prices, utc_now)
        if journal is not None:
            self._stack.callback(journal.close)
        session = await self._stack.enter_async_context(client_session())
        live = HttpUpstream(session, self._retries, self._timeouts)
        watch = await self._stack.enter_async_context(traced(self._watch, self._traces))
        service = Service(
            accounts=self._accounts,
            admission=Admission(self._ledger),
            upstreams={
                "Live": live,
                "Record": RecordUpstream(live),
                "Replay": ReplayUpstream(),
                "Scripted": ScriptedUpstream(),
            },
            providers=self._providers,
            watch=watch,
            client_idle_seconds=self._timeouts.idle_seconds,
        )
        app = application(service)
        runner, port = await serve(app, "127.0.0.1", 0, drain_seconds=_DRAIN_SECONDS)
        self._stack.push_async_callback(runner.cleanup)
        self.url = f"http://127.0.0.1:{port}"
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._stack.aclose()

    def admit(self, account: Account) -> Keys:
        """Make the keys of an attempt; those of the trial's other attempts end."""
        self._admitted[account.trial_uid, account.attempt] = account
        return self._accounts.admit(account)

    def remove(self, trial_uid: str) -> None:
        """End the keys of a trial; its bills stay."""
        self._accounts.remove(trial_uid)

    def spending(self, run_uid: str) -> RunSpending:
        """What a run used so far, in earlier processes too when there is a ``ledger_dir``."""
        return self._ledger.spending(run_uid)

    def bill(self, trial_uid: str, attempt: int) -> Bill:
        """What an attempt used so far; zero without a call."""
        account = self._admitted.get((trial_uid, attempt)) or Account(trial_uid, attempt)
        return account_bill(self._ledger, account)

    def entries(self, trial_uid: str, attempt: int) -> list[dict[str, Any]]:
        """One JSON object a call or refusal of an attempt, in order."""
        account = self._admitted.get((trial_uid, attempt)) or Account(trial_uid, attempt)
        return self._ledger.entries(trial_uid, attempt, account.run_uid)
