"""What one run used: the books of its attempts, and its money."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from decimal import Decimal

from proctor.api.usage import RUN_BUDGET, SPENDING_MODES, Bill, RunSpending, Usage
from proctor.gateway.book import Book
from proctor.gateway.events import CallEnded, CallOpened, Fact
from proctor.gateway.limits import Busy, Limit, Refusal


class RunBook:
    """All attempts of a run, those that were lost included; both roles.

    Only what a provider took counts as spent: scripted money does not.
    """

    def __init__(self) -> None:
        self.books: dict[tuple[str, int], Book] = {}
        self._spent_usd = Decimal(0)
        self._held_usd = Decimal(0)
        self._open = 0
        self._calls = 0
        self._usage = Usage()
        self._scripted_usd = Decimal(0)
        self._complete = True

    @classmethod
    def of(cls, facts: Iterable[Fact]) -> "RunBook":
        """Fold facts, each attempt's in order."""
        run = cls()
        for fact in facts:
            run.apply(fact)
        return run

    def book(self, trial_uid: str, attempt: int) -> Book:
        """The book of an attempt; a new one when there is none."""
        book = self.books.get((trial_uid, attempt))
        if book is None:
            book = self.books[trial_uid, attempt] = Book()
        return book

    def apply(self, fact: Fact) -> None:
        """Add one fact."""
        settled = self.book(fact.trial_uid, fact.attempt).apply(fact)
        if isinstance(fact, CallOpened) and fact.mode in SPENDING_MODES:
            self._open += 1
            self._held_usd += fact.reserved_usd or 0
        if isinstance(fact, CallEnded) and settled is not None:
            self._settle(settled, fact)

    def _settle(self, opened: CallOpened, ended: CallEnded) -> None:
        self._calls += ended.reached_model
        self._usage += ended.usage or Usage()
        cost = ended.cost_usd or Decimal(0)
        if opened.mode not in SPENDING_MODES:
            self._scripted_usd += cost
            return
        self._open -= 1
        self._held_usd -= opened.reserved_usd or 0
        self._spent_usd += cost
        has_price = ended.usage is None or ended.cost_usd is not None
        self._complete = self._complete and ended.complete and has_price

    def check(self, budget_usd: Decimal, asked_usd: Decimal | None) -> Limit:
        """Whether the run may spend more; a call alone in flight may overshoot."""
        if self._spent_usd >= budget_usd:
            return Refusal(
                RUN_BUDGET,
                f"{self._spent_usd:f} of the {budget_usd:f} US dollars of the run's budget "
                "(spec.budget.usd) is used",
            )
        held = self._spent_usd + self._held_usd + (asked_usd or Decimal(0))
        return Busy() if self._open and held > budget_usd else None

    def spending(self) -> RunSpending:
        """What the run used so far."""
        return RunSpending(
            calls=self._calls,
            open_calls=self._open,
            usage=self._usage,
            cost_usd=self._spent_usd,
            scripted_cost_usd=self._scripted_usd,
            cost_complete=self._complete and not self._open,
        )

    def running(self) -> Iterator[tuple[str, int, Bill]]:
        """Trial, attempt and bill of every account that is not closed."""
        for (trial_uid, attempt), book in self.books.items():
            if not book.closed:
                yield trial_uid, attempt, book.bill()

    @property
    def last_at(self) -> datetime | None:
        """When something was last written; None: nothing ever was."""
        return max((b.last_at for b in self.books.values() if b.last_at), default=None)

    @property
    def open_calls(self) -> tuple[CallOpened, ...]:
        """Those that are not over."""
        return tuple(call for book in self.books.values() for call in book.open_calls)
