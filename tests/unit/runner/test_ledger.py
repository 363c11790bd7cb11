from decimal import Decimal

from proctor.api.usage import Bill
from proctor.runner.ledger import close_account, read_ledger


def test_ledger_is_the_gateways_bill_and_entries(gateway):
    bill = Bill(calls=2, cost_usd=Decimal("0.5"))

    ledger = read_ledger(gateway(bill, [{"a": 1}]), None, pause_seconds=0)

    assert (ledger.bill, ledger.entries, ledger.problem) == (bill, ({"a": 1},), None)


def test_gateway_that_is_busy_is_asked_again(gateway):
    ledger = read_ledger(gateway(Bill(calls=2), failures=3), None, pause_seconds=0)

    assert (ledger.bill.calls, ledger.problem) == (2, None)


def test_ledger_that_cannot_be_had_is_unknown_and_not_zero(gateway):
    ledger = read_ledger(gateway(Bill(), failures=99), "key", pause_seconds=0)

    assert (ledger.bill.cost_usd, ledger.bill.cost_complete) == (None, False)
    assert "503" in ledger.problem


def test_wrong_key_is_unknown_and_named(gateway):
    ledger = read_ledger(gateway(Bill(), key="right"), "wrong", pause_seconds=0)

    assert ledger.bill.cost_usd is None
    assert "401" in ledger.problem


def test_gateway_that_is_gone_is_unknown():
    ledger = read_ledger("http://127.0.0.1:1", None, pause_seconds=0)

    assert ledger.bill.cost_usd is None
    assert "ConnectionRefused" in ledger.problem


def test_without_a_gateway_nothing_was_used():
    assert read_ledger(None, None).bill == Bill()


def test_words_of_a_provider_are_made_plain(gateway):
    bill = Bill(provider_error="\ud800\x1b[2J" + "x" * 1000)

    ledger = read_ledger(gateway(bill), None)

    assert ledger.bill.provider_error.startswith("??[2Jxxx")
    assert len(ledger.bill.provider_error) == 300


def test_an_account_is_closed_by_its_own_key(gateway):
    assert close_account(gateway(Bill(), key="own"), "own") is None
    assert gateway.closed == [204]


def test_a_gateway_that_is_busy_is_asked_again_to_close_an_account(gateway):
    assert close_account(gateway(Bill(), key="own", failures=2), "own", pause_seconds=0) is None
    assert gateway.closed == [503, 503, 204]


def test_an_account_that_cannot_be_closed_is_told(gateway):
    assert "503" in close_account(gateway(Bill(), failures=9), "own", pause_seconds=0)
    assert "401" in close_account(gateway(Bill(), key="own"), "wrong", pause_seconds=0)
    assert "Refused" in close_account("http://127.0.0.1:1", "own", pause_seconds=0)
