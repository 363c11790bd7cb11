"""Fifty parallel trials and one budget: overshoot at most the calls in flight, forget nothing."""

import asyncio
from collections.abc import Awaitable, Callable
from decimal import Decimal
from itertools import count

from hypothesis import given, settings
from hypothesis import strategies as st

from builders_gateway import MODEL, a_ledger, an_ask, prices
from proctor.api.evaltrial import TrialLimits
from proctor.api.usage import RUN_BUDGET, RunSpending, Usage
from proctor.gateway.account import Account
from proctor.gateway.admission import Admission
from proctor.gateway.ledger import Ending, OpenCall
from proctor.gateway.limits import Refusal
from proctor.wire.format import Reading
from proctor.wire.script import Script

TRIALS = 50
BUDGET = Decimal("0.10")

usages = st.builds(Usage, st.integers(0, 3000), st.integers(0, 2000))
"""A call costs up to 0.023 US dollars."""


def an_account(number: int, **fields: object) -> Account:
    known = {"run_uid": "run-1", "run_budget_usd": BUDGET, **fields}
    return Account(f"trial-{number}", 1, **known)  # type: ignore[arg-type]


def cost(usage: Usage) -> Decimal:
    found = prices().cost_usd(usage, MODEL)
    assert found is not None
    return found


class World:
    """Trials that call until they are refused; time is turns of the event loop."""

    def __init__(self, reserved: Callable[[Usage], Usage]) -> None:
        self.admission = Admission(a_ledger())
        self._reserved = reserved
        self.in_flight: dict[int, Decimal] = {}
        self.spent = Decimal(0)
        self.crossing: Decimal | None = None
        self.refused = 0
        self._numbers = count()

    async def trial(self, number: int, calls: list[tuple[Usage, int]]) -> None:
        account = an_account(number)
        for usage, turns in calls:
            ask = an_ask(reserved=self._reserved(usage))
            call = await self.admission.open(account, ask)
            if isinstance(call, Refusal):
                assert call.limit == RUN_BUDGET
                assert self.spent >= BUDGET, "refused although there was money left"
                self.refused += 1
                return
            await self._call(call, usage, turns)

    async def _call(self, call: OpenCall, usage: Usage, turns: int) -> None:
        assert self.spent < BUDGET, "admitted although the budget was used up"
        number = next(self._numbers)
        self.in_flight[number] = cost(usage)
        for _ in range(turns):
            await asyncio.sleep(0)
        before = self.spent
        self.spent += cost(usage)
        if before < BUDGET <= self.spent:
            self.crossing = sum(self.in_flight.values(), Decimal(0))
        del self.in_flight[number]
        reading = Reading(usage, complete=True, stop_reason="end_turn")
        self.admission.end(call, Ending(200, reading))

    async def play(self, trials: list[list[tuple[Usage, int]]]) -> RunSpending:
        await asyncio.gather(*(self.trial(n, calls) for n, calls in enumerate(trials)))
        return self.admission.ledger.spending("run-1")


worlds = st.lists(
    st.lists(st.tuples(usages, st.integers(0, 6)), max_size=5), min_size=TRIALS, max_size=TRIALS
)


@settings(max_examples=60, deadline=None)
@given(worlds, st.sampled_from(["nothing", "a part", "enough", "too much"]))
def test_a_run_overshoots_its_budget_by_at_most_the_calls_in_flight(
    trials: list[list[tuple[Usage, int]]], kind: str
) -> None:
    world = World(RESERVATIONS[kind])
    spending = asyncio.run(world.play(trials))
    assert (spending.cost_usd, spending.open_calls) == (world.spent, 0)
    if world.crossing is not None:
        assert world.spent - BUDGET < world.crossing


@settings(max_examples=60, deadline=None)
@given(worlds, st.sampled_from(["enough", "too much"]))
def test_with_reservations_that_suffice_it_overshoots_by_at_most_one_call(
    trials: list[list[tuple[Usage, int]]], kind: str
) -> None:
    world = World(RESERVATIONS[kind])
    asyncio.run(world.play(trials))
    assert world.spent - BUDGET < cost(Usage(3000, 2000))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.tuples(usages, st.integers(0, 6)), max_size=6), max_size=8))
def test_a_trials_parallel_calls_overshoot_its_tokens_by_at_most_one_of_them(
    calls: list[list[tuple[Usage, int]]],
) -> None:
    account = Account("trial-1", 1, limits=TrialLimits(max_total_tokens=10_000))

    async def play() -> int:
        admission = Admission(a_ledger())

        async def branch(calls: list[tuple[Usage, int]]) -> None:
            for usage, turns in calls:
                call = await admission.open(account, an_ask(reserved=usage))
                if isinstance(call, Refusal):
                    assert call.limit == "maxTotalTokens"
                    return
                for _ in range(turns):
                    await asyncio.sleep(0)
                admission.end(call, Ending(200, Reading(usage, complete=True)))

        await asyncio.gather(*(branch(part) for part in calls))
        return admission.ledger.bill("trial-1", 1, None).usage.total

    assert asyncio.run(play()) < 10_000 + 5_000


RESERVATIONS: dict[str, Callable[[Usage], Usage]] = {
    "nothing": lambda usage: Usage(),
    "a part": lambda usage: Usage(usage.input // 2, usage.output // 2),
    "enough": lambda usage: usage,
    "too much": lambda usage: Usage(200_000, 4096),
}


def settled(admission: Admission, account: Account, usage: Usage) -> None:
    call = admission.ledger.open_call(account, an_ask())
    assert isinstance(call, OpenCall)
    admission.end(call, Ending(200, Reading(usage, complete=True)))


async def waiting(step: Awaitable[object]) -> "asyncio.Future[object]":
    task = asyncio.ensure_future(step)
    for _ in range(3):
        await asyncio.sleep(0)
    return task


async def test_nobody_is_refused_for_money_that_another_call_only_holds() -> None:
    admission = Admission(a_ledger())
    large = an_ask(reserved=Usage(0, 9_000))  # 0.09 of 0.10
    first = await admission.open(an_account(1), large)
    assert isinstance(first, OpenCall)
    second = await waiting(admission.open(an_account(2), large))
    assert not second.done()
    admission.end(first, Ending(200, Reading(Usage(10, 10), complete=True)))
    assert isinstance(await asyncio.wait_for(second, 5), OpenCall)


async def test_a_call_that_waited_is_refused_when_the_one_before_it_took_all() -> None:
    admission = Admission(a_ledger())
    large = an_ask(reserved=Usage(0, 9_000))
    first = await admission.open(an_account(1), large)
    assert isinstance(first, OpenCall)
    second = await waiting(admission.open(an_account(2), large))
    admission.end(first, Ending(200, Reading(Usage(0, 10_000), complete=True)))
    refusal = await asyncio.wait_for(second, 5)
    assert isinstance(refusal, Refusal)
    assert refusal.reason == (
        "0.1 of the 0.10 US dollars of the run's budget (spec.budget.usd) is used"
    )
    bill = admission.ledger.bill("trial-2", 1, None, "run-1")
    assert (bill.refused, bill.calls) == (RUN_BUDGET, 0)


async def test_a_client_that_goes_away_while_it_waits_holds_nothing() -> None:
    admission = Admission(a_ledger())
    large = an_ask(reserved=Usage(0, 9_000))
    first = await admission.open(an_account(1), large)
    assert isinstance(first, OpenCall)
    second = await waiting(admission.open(an_account(2), large))
    second.cancel()
    await asyncio.gather(second, return_exceptions=True)
    admission.end(first, Ending(400, spent_nothing=True))
    third = await asyncio.wait_for(admission.open(an_account(3), large), 5)
    assert isinstance(third, OpenCall)


async def test_a_trial_that_is_closed_while_it_waits_is_told_so() -> None:
    admission = Admission(a_ledger())
    large = an_ask(reserved=Usage(0, 9_000))
    await admission.open(an_account(1), large)
    second = await waiting(admission.open(an_account(2), large))
    admission.ledger.close(an_account(2))
    admission.look_again("run-1")
    refusal = await asyncio.wait_for(second, 5)
    assert isinstance(refusal, Refusal)
    assert "graded" in refusal.reason


def test_judges_and_lost_attempts_are_part_of_what_a_run_spends() -> None:
    admission = Admission(a_ledger())
    settled(admission, an_account(1), Usage(0, 1000))
    lost = Account("trial-1", 2, run_uid="run-1", run_budget_usd=BUDGET)
    settled(admission, lost, Usage(0, 1000))
    judge = admission.ledger.open_call(an_account(1), an_ask(role="judge"))
    assert isinstance(judge, OpenCall)
    admission.end(judge, Ending(200, Reading(Usage(0, 500), complete=True)))
    spending = admission.ledger.spending("run-1")
    assert (spending.cost_usd, spending.calls) == (Decimal("0.025"), 3)
    assert admission.ledger.bill("trial-1", 1, None, "run-1").judge_cost_usd == Decimal("0.005")


def test_a_judge_is_refused_by_the_runs_budget_too() -> None:
    admission = Admission(a_ledger())
    settled(admission, an_account(1), Usage(0, 10_000))
    refusal = admission.ledger.open_call(an_account(1), an_ask(role="judge"))
    assert isinstance(refusal, Refusal)
    assert admission.ledger.bill("trial-1", 1, None, "run-1").refused is None


def test_scripted_money_is_never_spent() -> None:
    admission = Admission(a_ledger())
    scripted = an_account(1, mode="Scripted", script=Script(()))
    for _ in range(3):
        settled(admission, scripted, Usage(0, 10_000))
    spending = admission.ledger.spending("run-1")
    assert (spending.cost_usd, spending.scripted_cost_usd) == (0, Decimal("0.3"))


def test_a_model_without_a_price_is_refused_under_the_runs_budget() -> None:
    refusal = a_ledger().open_call(an_account(1), an_ask("unpriced"))
    assert refusal == Refusal(None, "model 'unpriced' has no price, and this run has a money limit")


def test_runs_do_not_share_their_budgets() -> None:
    admission = Admission(a_ledger())
    settled(admission, an_account(1), Usage(0, 10_000))
    other = an_account(1, run_uid="run-2")
    assert isinstance(admission.ledger.open_call(other, an_ask()), OpenCall)
