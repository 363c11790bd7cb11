"""The operator process: what is made once, and the tasks that run side by side."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime

from aiohttp import web

from proctor import __version__
from proctor.controller.admitted import Admitted
from proctor.controller.apply import Applier
from proctor.controller.bills import Bills, GatewayBills, NoBills
from proctor.controller.bundles import Bundles, NoBundles, ResultsBundles
from proctor.controller.cluster import (
    EVAL_RUNS,
    EVAL_TRIALS,
    NETWORK_POLICIES,
    PODS,
    Body,
    Cluster,
    Kind,
)
from proctor.controller.due import Due
from proctor.controller.handlers import Memo, watch_runs
from proctor.controller.health import Health
from proctor.controller.kube.adapter import KubeCluster
from proctor.controller.kube.client import Client
from proctor.controller.kube.connection import Connection
from proctor.controller.names import AGENT, SELECTOR
from proctor.controller.network import Network
from proctor.controller.reconcile import Reconciler
from proctor.controller.reporter import Reporter
from proctor.controller.seen import SeenPod, SeenRun, SeenTrial
from proctor.controller.seen_policy import SeenPolicy
from proctor.controller.settings import OperatorSettings
from proctor.controller.start import Starter
from proctor.controller.verify import Verifier
from proctor.controller.watched import Mirror, S, Watched
from proctor.controller.workers import Workers
from proctor.metrics.trials import OperatorMetrics
from proctor.plugins.builtin import builtin_registry
from proctor.pricing.prices import is_priced


async def serve(settings: OperatorSettings, connection: Connection) -> None:
    """Run the operator until a signal ends it."""
    metrics = OperatorMetrics.of_process(__version__)
    client = Client(connection, metrics.api_request)
    cluster = KubeCluster(client, metrics.watch_restarted)
    workers, watched = assemble(settings, cluster, metrics, _bills(settings), _bundles(settings))
    health = Health(workers, watched, cluster.watch_ages, metrics.exposition)
    try:
        async with _listening(health.app(), settings.port), asyncio.TaskGroup() as group:
            tasks = [
                *_followers(group, cluster, watched),
                group.create_task(_work_when_complete(workers, watched)),
            ]
            await _list_runs(cluster, watched)
            await watch_runs(Memo(watched, connection), settings.namespaces)
            for task in tasks:
                task.cancel()
    finally:
        await client.close()


def assemble(
    settings: OperatorSettings,
    cluster: Cluster,
    metrics: OperatorMetrics,
    bills: Bills,
    bundles: Bundles,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> tuple[Workers, Watched]:
    """Wire the parts; every event in the mirrors marks its run as due with the workers."""
    due = Due()
    watched = Watched.empty(lambda run: workers.mark(run), settings.namespaces or (None,))
    network = Network(cluster, watched, settings.network, now)
    starter = Starter(cluster, watched, settings, network)
    reconciler = Reconciler(
        cluster=cluster,
        watched=watched,
        applier=Applier(cluster, watched, starter, metrics),
        admitted=Admitted(cluster, watched, starter),
        verifier=Verifier(cluster, watched, bills),
        network=network,
        bundles=bundles,
        settings=settings,
        metrics=metrics,
        kinds=builtin_registry(),
        priced=lambda model: model in settings.priced_models or is_priced(model),
        due=due,
        reporter=Reporter(cluster, watched, due, now),
        now=now,
    )
    workers = Workers(due, reconciler.reconcile, metrics, now)
    metrics.count_pending(lambda: _pending(watched))
    return workers, watched


def _bills(settings: OperatorSettings) -> Bills:
    token = settings.gateway_token_file
    return NoBills() if token is None else GatewayBills(settings.gateway_url, token)


def _bundles(settings: OperatorSettings) -> Bundles:
    results = settings.results
    if results is None or results.read_url is None or results.token_file is None:
        return NoBundles()
    return ResultsBundles(results.read_url, results.token_file)


def _pending(watched: Watched) -> int:
    return sum(pod.phase == "Pending" and AGENT not in _started(pod) for pod in watched.pods.all())


def _started(pod: SeenPod) -> set[str]:
    return {name for name, state in pod.containers.items() if state.has_started}


def _followers(
    group: asyncio.TaskGroup, cluster: Cluster, watched: Watched
) -> list[asyncio.Task[None]]:
    """One watch for EvalTrials, pods and NetworkPolicies, in each namespace that is served."""
    tasks = []
    for scope in watched.scopes:
        trials = _follow(cluster, EVAL_TRIALS, scope, SeenTrial.from_body, watched.trials)
        pods = _follow(cluster, PODS, scope, SeenPod.from_body, watched.pods)
        policies = _follow(
            cluster, NETWORK_POLICIES, scope, SeenPolicy.from_body, watched.policies, selector=""
        )
        tasks += [group.create_task(one) for one in (trials, pods, policies)]
    return tasks


async def _follow(
    cluster: Cluster,
    kind: Kind,
    scope: str | None,
    parse: Callable[[Body], S | None],
    mirror: Mirror[S],
    selector: str = SELECTOR,
) -> None:
    async for change in cluster.follow(kind, scope, parse, selector=selector):
        mirror.take(change, scope)


async def _list_runs(cluster: Cluster, watched: Watched) -> None:
    """List EvalRuns once: kopf watches them, but does not say when it has seen them all."""
    for scope in watched.scopes:
        async with aclosing(cluster.follow(EVAL_RUNS, scope, SeenRun.from_body)) as changes:
            watched.runs.take(await anext(changes), scope)


async def _work_when_complete(workers: Workers, watched: Watched) -> None:
    await watched.complete()
    await workers.run()


@asynccontextmanager
async def _listening(app: web.Application, port: int) -> AsyncIterator[None]:
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    try:
        await web.TCPSite(runner, None, port).start()
        yield
    finally:
        await runner.cleanup()
