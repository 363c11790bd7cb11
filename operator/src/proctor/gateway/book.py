"""What one attempt used: a fold over its facts, the same live and when a ledger is read again."""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from proctor.api.evaltrial import TrialLimits
from proctor.api.usage import Bill, Usage
from proctor.gateway.account import Role
from proctor.gateway.events import AccountClosed, CallEnded, CallOpened, CallRefused, Fact
from proctor.gateway.limits import Busy, Limit, Refusal
from proctor.gateway.tally import Tally

AGENT: Role = "agent"

LOST = "the model gateway was stopped in the middle of a call"
"""What an agent that saw nothing after it cannot be blamed for."""


class Book:
    """The facts of one attempt, added up: the agent's calls, and a judge's apart from them.

    A call counts when the model answered or refused it; one that failed at the provider does
    not, so that a provider's trouble uses up nobody's limit. Open calls count.
    """

    def __init__(self) -> None:
        self.closed = False
        self.last_at: datetime | None = None
        self._last: tuple[str, str | None] | None = None
        self._open: dict[str, CallOpened] = {}
        self._agent = Tally()
        self._judge = Tally()
        self._mode = "Live"
        self._refused: str | None = None
        self._provider_error: str | None = None

    def apply(self, fact: Fact) -> CallOpened | None:
        """Add one fact; the call that it ended, if it did."""
        self.last_at = fact.at
        self._last = ("refused", fact.limit) if isinstance(fact, CallRefused) else None
        match fact:
            case CallOpened():
                self._mode = fact.mode
                self._open[fact.call] = fact
            case CallEnded():
                return self._ended(fact)
            case CallRefused():
                self._mode, self._provider_error = fact.mode, None
                self._refused = fact.limit or self._refused
            case AccountClosed():
                self.closed = True
        return None

    def _ended(self, fact: CallEnded) -> CallOpened | None:
        opened = self._open.pop(fact.call, None)
        if opened is None:
            return None
        if opened.role != AGENT:
            self._judge = self._judge.with_call(fact)
            return opened
        self._agent = self._agent.with_call(fact)
        if fact.lost:
            self._provider_error = LOST
        elif fact.status is not None or fact.provider_failure is not None:
            self._provider_error = fact.provider_failure
        return opened

    @property
    def is_idle(self) -> bool:
        """Whether no call is open."""
        return not self._open

    @property
    def open_calls(self) -> tuple[CallOpened, ...]:
        """Those that are not over."""
        return tuple(self._open.values())

    def ended_with_refusal(self, limit: str | None) -> bool:
        """Whether the last fact was a refusal for the same limit."""
        return self._last == ("refused", limit)

    def bill(self) -> Bill:
        """What was used so far."""
        judge, opened = self._judge, self._of_agent()
        return Bill(
            calls=self._agent.calls + len(opened),
            usage=self._agent.usage,
            cost_usd=self._agent.cost_usd,
            cost_complete=self._agent.complete and not opened,
            mode=self._mode,
            refused=self._refused,
            provider_error=self._provider_error,
            judge_calls=judge.calls + len(self._open) - len(opened),
            judge_usage=judge.usage,
            judge_cost_usd=judge.cost_usd,
        )

    def check(self, limits: TrialLimits, asked: Usage, asked_usd: Decimal | None) -> Limit:
        """Whether the agent may make a further call, which is taken for ``asked``."""
        opened = self._of_agent()
        calls, tokens = self._agent.calls + len(opened), self._agent.usage.total
        most = limits.max_model_calls
        if most is not None and calls >= most:
            return Refusal("maxModelCalls", f"{calls} of {most} model calls are used")
        if limits.max_total_tokens is not None:
            if tokens >= limits.max_total_tokens:
                used = f"{tokens} of {limits.max_total_tokens} tokens are used"
                return Refusal("maxTotalTokens", used)
            held = sum(call.reserved.total for call in opened)
            if opened and tokens + held + asked.total > limits.max_total_tokens:
                return Busy()
        return self._check_money(limits.max_usd, opened, asked_usd)

    def _check_money(
        self, most: Decimal | None, opened: Iterable[CallOpened], asked_usd: Decimal | None
    ) -> Limit:
        spent = self._agent.cost_usd
        if most is None:
            return None
        if spent is None or spent >= most:
            used = "an unknown amount" if spent is None else f"{spent:f}"
            return Refusal("maxUsd", f"{used} of {most:f} US dollars is used")
        held = [call.reserved_usd or Decimal(0) for call in opened]
        if held and spent + sum(held) + (asked_usd or Decimal(0)) > most:
            return Busy()
        return None

    def _of_agent(self) -> list[CallOpened]:
        return [call for call in self._open.values() if call.role == AGENT]
