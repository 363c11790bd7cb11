"""Workers, health, bills and the uninstall hook."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from aiohttp import web
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import CollectorRegistry

from builders_controller import KEY, World, run_body
from fakes.cluster import START
from proctor.api.usage import Bill
from proctor.controller.bills import GatewayBills, NoBills
from proctor.controller.cluster import ClusterError, Snapshot
from proctor.controller.due import Due
from proctor.controller.health import STALE_WATCH_SECONDS, Health
from proctor.controller.seen import RunKey
from proctor.controller.uninstall import release_pods
from proctor.controller.watched import Watched
from proctor.controller.workers import Workers
from proctor.metrics.trials import OperatorMetrics


@pytest.fixture
def metrics():
    return OperatorMetrics(CollectorRegistry(), "test")


async def test_a_mark_wakes_a_worker(metrics):
    seen = asyncio.Event()

    async def reconcile(run):
        assert run == KEY
        seen.set()

    workers = Workers(Due(), reconcile, metrics, lambda: START)
    task = asyncio.create_task(workers.run())
    await asyncio.sleep(0)
    workers.mark(KEY)
    async with asyncio.timeout(5):
        await seen.wait()
    task.cancel()


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(ClusterError(500, "InternalError", "slow"), id="the-cluster-fails"),
        pytest.param(KeyError("a bug"), id="a-bug"),
    ],
)
async def test_a_pass_that_fails_comes_again_later_and_stops_no_other(metrics, error):
    due, seen, other = Due(), asyncio.Event(), RunKey("team", "other")

    async def reconcile(run):
        if run == other:
            seen.set()
            return
        workers.mark(other)
        raise error

    workers = Workers(due, reconcile, metrics, lambda: START)
    task = asyncio.create_task(workers.run())
    workers.mark(KEY)
    async with asyncio.timeout(5):
        await seen.wait()
    assert due.next_at() > START
    task.cancel()


async def test_a_run_that_fails_for_days_still_comes_again(metrics):
    # After 1,024 failures in a row the wait was too large for a float, and all workers ended.
    due, tried = Due(), Counter()

    async def reconcile(run):
        await asyncio.sleep(0)
        tried[run] += 1
        if tried[run] > 1100:
            enough.set()
        raise ClusterError(500, "InternalError", "down")

    enough = asyncio.Event()
    now = START

    def clock():
        nonlocal now
        now += timedelta(minutes=5)
        return now

    workers = Workers(due, reconcile, metrics, clock)
    task = asyncio.create_task(workers.run())
    workers.mark(KEY)
    async with asyncio.timeout(20):
        await enough.wait()
    assert not task.done()
    task.cancel()


@pytest.fixture
async def health(metrics):
    ages = {"pods": 1.0}
    workers = Workers(Due(), lambda run: asyncio.sleep(0), metrics, lambda: START)
    watched = Watched.empty(lambda run: None)
    app = Health(workers, watched, lambda: ages, metrics.exposition).app()
    async with TestClient(TestServer(app)) as client:
        yield client, watched, ages


async def test_health_tells_the_age_of_the_last_pass_and_of_each_watch(health):
    client, _, _ = health
    answer = await client.get("/healthz")
    body = await answer.json()
    assert answer.status == 200
    assert body["secondsSinceWatch"] == {"pods": 1.0}
    assert body["secondsSinceLastPass"] < 60


async def test_a_watch_that_is_silent_for_too_long_is_unhealthy_by_name(health):
    client, _, ages = health
    ages["pods"] = STALE_WATCH_SECONDS + 1
    answer = await client.get("/healthz")
    assert (answer.status, (await answer.json())["stale"]) == (503, ["pods"])


async def test_ready_is_when_the_first_lists_are_complete(health):
    client, watched, _ = health
    assert (await client.get("/readyz")).status == 503
    for mirror in (watched.runs, watched.trials, watched.pods, watched.policies):
        mirror.take(Snapshot((), 1), None)
    assert (await client.get("/readyz")).status == 200


async def test_metrics_are_in_prometheus_text_format(health):
    client, _, _ = health
    answer = await client.get("/metrics")
    assert 'proctor_build_info{version="test"} 1.0' in await answer.text()


@pytest.fixture
async def gateway():
    bill = Bill(calls=4)
    since = START.isoformat()

    async def handler(request):
        if request.headers["Authorization"] != "Bearer operators-token":
            return web.Response(status=401)
        if (request.path, request.query["since"]) != ("/proctor/v1/bills/uid/2", since):
            return web.Response(status=404)
        return web.json_response(bill.to_json())

    app = web.Application()
    app.router.add_get("/{path:.*}", handler)
    async with TestServer(app) as server:
        yield str(server.make_url("/"))


@pytest.mark.parametrize(
    ("token", "attempt", "expected"),
    [
        pytest.param("operators-token\n", 2, Bill(calls=4), id="known"),
        pytest.param("operators-token", 1, None, id="unknown"),
        pytest.param("another", 2, None, id="refused"),
    ],
)
async def test_a_bill_is_asked_for_with_the_operators_own_token(
    gateway, tmp_path, token, attempt, expected
):
    file = tmp_path / "token"
    file.write_text(token)
    assert await GatewayBills(gateway, file).bill("run", "uid", attempt, START) == expected


async def test_a_gateway_that_cannot_be_reached_knows_no_bill(tmp_path):
    bills = GatewayBills("http://127.0.0.1:9", tmp_path / "missing")
    assert await bills.bill("run", "uid", 1, START) is None
    assert await NoBills().bill("run", "uid", 1, START) is None


async def test_uninstalling_lets_go_of_every_pod():
    world = World()
    await world.apply(run_body(repeats=3))
    assert await release_pods(world.cluster, [None], seconds=0) == 3
    assert all("finalizers" not in pod["metadata"] for pod in world.pods())
