"""What the operator asks the gateway for, and what it makes of no answer."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from aiohttp import web

from proctor.api.usage import Bill, RunSpending, Usage
from proctor.controller.bills import GatewayBills, NoBills

START = datetime(2026, 1, 31, 12, tzinfo=UTC)
BILL = Bill(calls=2, usage=Usage(5, 6), cost_usd=Decimal("0.5"), refused="budget")
SPENT = RunSpending(calls=9, cost_usd=Decimal("1.25"), cost_complete=False)


@asynccontextmanager
async def a_gateway(status: int = 200, body: object = None) -> AsyncIterator[tuple[str, list[str]]]:
    asked: list[str] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(f"{request.path_qs} {request.headers['authorization']}")
        default = {"run": SPENT.to_json()} if "/runs/" in request.path else BILL.to_json()
        return web.json_response(default if body is None else body, status=status)

    app = web.Application()
    app.router.add_get("/{path:.*}", answer)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/", asked
    finally:
        await runner.cleanup()


def a_token(folder: Path) -> Path:
    path = folder / "token"
    path.write_text("secret\n")
    return path


async def test_bills_and_spending_are_asked_for_by_the_run(tmp_path: Path) -> None:
    async with a_gateway() as (url, asked):
        bills = GatewayBills(url, a_token(tmp_path))
        assert await bills.bill("run-uid", "trial-uid", 2, START) == BILL
        assert await bills.spending("run-uid") == SPENT
    assert asked == [
        "/proctor/v1/bills/trial-uid/2?run=run-uid&since=2026-01-31T12:00:00%2B00:00 Bearer secret",
        "/proctor/v1/runs/run-uid Bearer secret",
    ]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        pytest.param(503, None, id="gateway-fails"),
        pytest.param(403, None, id="not-the-operator"),
        pytest.param(200, [], id="no-object"),
        pytest.param(200, {}, id="nothing-in-it"),
        pytest.param(200, {"run": {"calls": "many"}, "calls": "many"}, id="no-figures"),
    ],
)
async def test_an_answer_that_does_not_come_is_unknown(
    tmp_path: Path, status: int, body: object
) -> None:
    async with a_gateway(status, body) as (url, _):
        bills = GatewayBills(url, a_token(tmp_path))
        assert await bills.bill("run-uid", "trial-uid", 1, START) is None
        assert await bills.spending("run-uid") is None


async def test_without_a_gateway_nothing_is_known(tmp_path: Path) -> None:
    assert await NoBills().spending("run-uid") is None
    assert await GatewayBills("http://127.0.0.1:1", tmp_path / "no-token").spending("r") is None
    assert await GatewayBills("http://127.0.0.1:1", a_token(tmp_path)).spending("r") is None
