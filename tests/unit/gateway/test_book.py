from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from builders_gateway import MODEL, MORNING, a_ledger, an_account, an_ask
from proctor.api.usage import Bill, Usage
from proctor.gateway.account import Account
from proctor.gateway.ledger import Ending, Ledger, OpenCall
from proctor.gateway.limits import Refusal
from proctor.wire.format import Reading

DONE = Ending(200, Reading(Usage(1000, 100), complete=True, stop_reason="end_turn"))
OVERLOADED = Ending(529, provider_failure="answered 529", spent_nothing=True)
UNREACHED = Ending(None, provider_failure="did not answer", spent_nothing=True)
CLIENT_GONE = Ending(None)


def opened(ledger: Ledger, account: Account, model: str = MODEL) -> OpenCall:
    call = ledger.open_call(account, an_ask(model))
    assert isinstance(call, OpenCall), call
    return call


def refused(ledger: Ledger, account: Account, model: str = MODEL) -> Refusal:
    call = ledger.open_call(account, an_ask(model))
    assert isinstance(call, Refusal), call
    return call


def after(*endings: Ending, **limits: Any) -> tuple[Ledger, Account]:
    ledger, account = a_ledger(), an_account(**limits)
    for ending in endings:
        ledger.end_call(opened(ledger, account), ending)
    return ledger, account


def bill(*endings: Ending, model: str = MODEL) -> Bill:
    ledger, account = a_ledger(), an_account()
    for ending in endings:
        ledger.end_call(opened(ledger, account, model), ending)
    return ledger.bill("trial-1", 1, None)


def test_calls_tokens_and_money_add_up() -> None:
    # (1,000 × 1 + 100 × 10) millionths a call
    assert bill(DONE, DONE) == Bill(2, Usage(2000, 200), Decimal("0.004"), cost_complete=True)


def test_without_a_call_the_bill_is_zero() -> None:
    assert bill() == Bill()


def test_a_call_without_a_price_makes_the_cost_unknown_for_good() -> None:
    ledger, account = a_ledger(), an_account()
    for model in (MODEL, "unpriced", MODEL):
        ledger.end_call(opened(ledger, account, model), DONE)
    seen = ledger.bill("trial-1", 1, None)
    assert (seen.cost_usd, seen.cost_complete, seen.usage) == (None, False, Usage(3000, 300))


@pytest.mark.parametrize(
    ("ending", "calls", "complete", "provider_error"),
    [
        pytest.param(DONE, 1, True, None, id="answered"),
        pytest.param(Ending(400, spent_nothing=True), 1, True, None, id="refused-by-the-model"),
        pytest.param(OVERLOADED, 0, True, "answered 529", id="failed-by-the-provider"),
        pytest.param(UNREACHED, 0, True, "did not answer", id="never-reached"),
        pytest.param(
            Ending(None, provider_failure="lost"), 0, False, "lost", id="lost-after-it-was-sent"
        ),
        pytest.param(Ending(200, provider_failure="cut"), 1, False, "cut", id="stream-cut"),
        pytest.param(CLIENT_GONE, 1, False, None, id="client-gone"),
        pytest.param(
            Ending(None, spent_nothing=True), 0, True, None, id="client-gone-in-the-queue"
        ),
    ],
)
def test_what_counts_of_a_call(
    ending: Ending, calls: int, complete: bool, provider_error: str | None
) -> None:
    seen = bill(ending)
    assert (seen.calls, seen.cost_complete, seen.provider_error) == (
        calls,
        complete,
        provider_error,
    )


def test_a_success_clears_the_providers_error() -> None:
    assert bill(OVERLOADED, DONE).provider_error is None


def test_a_client_that_left_early_saw_nothing_new_of_the_provider() -> None:
    assert bill(OVERLOADED, CLIENT_GONE).provider_error == "answered 529"


def test_an_open_call_counts_and_its_cost_is_not_complete() -> None:
    ledger, account = a_ledger(), an_account()
    opened(ledger, account)
    seen = ledger.bill("trial-1", 1, None)
    assert (seen.calls, seen.cost_complete) == (1, False)


def test_ending_a_call_twice_changes_nothing() -> None:
    ledger, account = a_ledger(), an_account()
    call = opened(ledger, account)
    ledger.end_call(call, DONE)
    ledger.end_call(call, DONE)
    assert ledger.bill("trial-1", 1, None).calls == 1


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        pytest.param({"max_model_calls": 2}, "maxModelCalls", id="calls"),
        pytest.param({"max_total_tokens": 2200}, "maxTotalTokens", id="tokens"),
        pytest.param({"max_usd": Decimal("0.004")}, "maxUsd", id="money"),
    ],
)
def test_a_reached_limit_refuses_the_next_call_and_the_bill_says_so(
    limits: dict[str, Any], limit: str
) -> None:
    ledger, account = after(DONE, DONE, **limits)
    assert refused(ledger, account).limit == limit
    assert ledger.bill("trial-1", 1, None).refused == limit


def test_calls_in_flight_count_for_the_limit_of_calls() -> None:
    ledger, account = a_ledger(), an_account(max_model_calls=2)
    opened(ledger, account)
    opened(ledger, account)
    assert refused(ledger, account).limit == "maxModelCalls"


def test_the_providers_failures_use_up_no_limit() -> None:
    ledger, account = after(OVERLOADED, OVERLOADED, UNREACHED, max_model_calls=1)
    opened(ledger, account)


def test_a_refusal_is_what_the_agent_saw_last() -> None:
    ledger, account = after(OVERLOADED, max_model_calls=1)
    opened(ledger, account)
    refused(ledger, account)
    assert ledger.bill("trial-1", 1, None).provider_error is None


def test_a_model_without_a_price_is_refused_under_a_money_limit_and_no_budget_is_blamed() -> None:
    ledger, account = a_ledger(), an_account(max_usd=Decimal(1))
    assert refused(ledger, account, "unpriced") == Refusal(
        None, "model 'unpriced' has no price, and this trial has a money limit"
    )
    assert ledger.bill("trial-1", 1, None).refused is None


def test_an_unknown_cost_refuses_every_call_under_a_money_limit() -> None:
    ledger = a_ledger()
    ledger.end_call(opened(ledger, an_account(), "unpriced"), DONE)
    assert refused(ledger, an_account(max_usd=Decimal(1))).limit == "maxUsd"


def test_a_closed_account_serves_no_call_and_its_bill_stays() -> None:
    ledger, account = after(DONE)
    ledger.close(account)
    ledger.close(account)
    before = ledger.bill("trial-1", 1, None)
    assert "graded" in refused(ledger, account).reason
    assert ledger.bill("trial-1", 1, None) == before


def test_attempts_are_booked_apart() -> None:
    ledger, _ = after(DONE)
    assert ledger.bill("trial-1", 2, None) == Bill()


def test_entries_tell_each_call_and_a_refusal_once() -> None:
    ledger, account = after(DONE, max_model_calls=1)
    refused(ledger, account)
    refused(ledger, account)
    call, refusal = ledger.entries("trial-1", 1)
    assert call == {
        "startedAt": MORNING.isoformat(),
        "endedAt": MORNING.isoformat(),
        "model": MODEL,
        "provider": "p",
        "format": "openai-chat",
        "role": "agent",
        "mode": "Live",
        "status": 200,
        "usage": {"input": 1000, "output": 100, "cache_read": 0, "cache_write": 0},
        "details": {},
        "price": {"model": MODEL, "source": "made up for tests, 2026-01-31", "date": None},
        "costUsd": "0.002",
        "complete": True,
        "estimated": False,
        "stopReason": "end_turn",
        "tools": [],
        "requestSha256": None,
        "responseSha256": None,
        "miss": None,
        "error": None,
        "refused": None,
    }
    assert (refusal["refused"], refusal["error"]) == (
        "maxModelCalls",
        "1 of 1 model calls are used",
    )
    assert ledger.entries("nobody", 1) == []


def test_an_account_that_is_older_than_the_ledger_is_not_complete() -> None:
    ledger = a_ledger()
    assert not ledger.bill("trial-1", 1, MORNING - timedelta(seconds=1)).cost_complete
    assert ledger.bill("trial-1", 1, MORNING).cost_complete


def test_idle_accounts_are_forgotten_and_open_ones_are_not() -> None:
    ledger, account = after(DONE)
    opened(ledger, Account("trial-2", 1))
    assert ledger.forget(MORNING) == 0
    assert ledger.forget(MORNING + timedelta(seconds=1)) == 1
    assert ledger.bill(account.trial_uid, 1, None).calls == 1, "it is read again"
    assert ledger.bill("trial-2", 1, None).calls == 1
