"""All parts of a gateway in a cluster, put together and taken apart."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from aiohttp import web

from proctor.gateway.admission import Admission
from proctor.gateway.canary import canary
from proctor.gateway.config import GatewayConfig
from proctor.gateway.http_upstream import HttpUpstream, client_session
from proctor.gateway.journal import FolderJournal, bring_to_disk
from proctor.gateway.kube_accounts import KubeAccounts
from proctor.gateway.kube_cassettes import KubeCassettes
from proctor.gateway.ledger import Ledger
from proctor.gateway.ledger_files import open_ledger
from proctor.gateway.record_upstream import RecordUpstream
from proctor.gateway.replay_upstream import ReplayUpstream
from proctor.gateway.report import Report
from proctor.gateway.scripted_upstream import ScriptedUpstream
from proctor.gateway.server import application, serve
from proctor.gateway.service import Service, utc_now
from proctor.gateway.traced import target_of, traced
from proctor.metrics.gateway import GatewayMetrics
from proctor.serving.kube import ApiServer, KubeApi
from proctor.serving.probes import add_probes

REMEMBERED = timedelta(hours=1)
"""How long a run without a call stays in memory; its files are read again when one comes."""

KEPT = timedelta(days=35)
"""How long a run's files stay after its last call: a run may last 30 days, and be suspended."""

_TIDY_EVERY_SECONDS = 600.0
_SYNC_EVERY_SECONDS = 1.0

_LOGGER = logging.getLogger("proctor.gateway")


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen, and how long open calls have to end.

    Args:
        port: For trials and the operator.
        probe_port: For the kubelet and Prometheus.
        canary_port: For nobody: see ``gateway.canary``.
    """

    host: str
    port: int
    probe_port: int
    canary_port: int
    drain_seconds: float


@dataclass(frozen=True, slots=True)
class Folders:
    """Where things are kept; None: the ledger in memory only, and no cassettes on a volume."""

    ledger: Path | None = None
    cassettes: Path | None = None


class Running:
    """A gateway that listens."""

    def __init__(self) -> None:
        self.port = self.probe_port = self.canary_port = 0
        self.is_ready = True

    def drain(self) -> None:
        """Say that no new calls are welcome."""
        self.is_ready = False


@asynccontextmanager
async def run_gateway(
    config: GatewayConfig,
    server: ApiServer,
    listen: Listen,
    folders: Folders,
    environment: Mapping[str, str],
) -> AsyncIterator[Running]:
    """Serve until the context ends."""
    async with AsyncExitStack() as stack:
        prices = config.overlay()
        # The catalog takes half a second to read: now, and not while the first call waits.
        prices.is_priced("")
        ledger, journal = open_ledger(folders.ledger, prices, utc_now)
        if journal is not None:
            stack.callback(journal.close)
            await stack.enter_async_context(_task(_sync(journal)))
        api = KubeApi(server)
        stack.push_async_callback(api.close)
        session = await stack.enter_async_context(client_session())
        metrics = GatewayMetrics()
        cassettes = KubeCassettes(api, folders.cassettes, time.monotonic)
        live = HttpUpstream(session, config.retries.retries(), config.timeouts.timeouts())
        target = target_of(environment, config.trace_target(environment))
        watch = await stack.enter_async_context(traced(Report(metrics, prices), target))
        service = Service(
            accounts=KubeAccounts(api, config.operator_service_account, cassettes=cassettes),
            admission=Admission(ledger),
            upstreams={
                "Live": live,
                "Record": RecordUpstream(live),
                "Replay": ReplayUpstream(),
                "Scripted": ScriptedUpstream(),
            },
            providers=tuple(provider.provider(environment) for provider in config.providers),
            watch=watch,
            client_idle_seconds=config.timeouts.idle_seconds,
        )
        running = Running()
        asked = web.Application()
        add_probes(asked, lambda: running.is_ready, metrics.scrape)
        prober, running.probe_port = await serve(
            asked, listen.host, listen.probe_port, drain_seconds=1.0
        )
        stack.push_async_callback(prober.cleanup)
        # Before the port for trials, and closed after it: while that one answers, so does this.
        running.canary_port = await stack.enter_async_context(
            canary(listen.host, listen.canary_port)
        )
        runner, running.port = await serve(
            application(service), listen.host, listen.port, drain_seconds=listen.drain_seconds
        )
        stack.push_async_callback(runner.cleanup)
        await stack.enter_async_context(_task(_tidy(ledger, journal)))
        yield running


@asynccontextmanager
async def _task(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _tidy(ledger: Ledger, journal: FolderJournal | None) -> None:
    """Keep memory and volume bounded."""
    while True:
        now = utc_now()
        ledger.forget(now - REMEMBERED)
        try:
            gone = await _prune(journal, now - KEPT) if journal else 0
        except OSError as error:
            _LOGGER.warning("old ledgers cannot be removed: %s", error.strerror)
        else:
            if gone:
                _LOGGER.info("removed the ledgers of %d runs", gone)
        await asyncio.sleep(_TIDY_EVERY_SECONDS)


async def _prune(journal: FolderJournal, before: datetime) -> int:
    journal.close_files()
    return await asyncio.to_thread(journal.prune, before)


async def _sync(journal: FolderJournal) -> None:
    """Bound what a machine that loses its power takes with it."""
    while True:
        await asyncio.sleep(_SYNC_EVERY_SECONDS)
        try:
            await asyncio.to_thread(bring_to_disk, journal.take_written())
        except OSError as error:
            _LOGGER.error("the ledger cannot be brought to the disk: %s", error.strerror)
