"""All parts of a results server, put together and taken apart."""

import asyncio
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial

from aiohttp import web

from proctor.api.errors import PlatformError
from proctor.metrics.results import ResultsMetrics
from proctor.results.access import Access
from proctor.results.answers import count_answers
from proctor.results.bundles import add_bundles
from proctor.results.config import ResultsConfig, RetentionConfig
from proctor.results.reading import read_application
from proctor.results.retention import Policy, Retention
from proctor.results.uploads import upload_application
from proctor.serving.kube import ApiServer, KubeApi
from proctor.serving.probes import add_probes
from proctor.store.bucket_objects import BucketObjects
from proctor.store.file_objects import FileObjects
from proctor.store.index import SqlIndex
from proctor.store.objects import Objects
from proctor.store.store import Store

_OPEN_EVERY_SECONDS = 2.0
_ROOM_EVERY_SECONDS = 2.0
_LOGGER = logging.getLogger("proctor.results")


@dataclass(frozen=True, slots=True)
class Listen:
    """Where to listen: trials send to one port, people read from the other."""

    host: str
    upload_port: int
    read_port: int
    drain_seconds: float


@dataclass(slots=True)
class Running:
    """A server that listens, with its ports."""

    upload_port: int = 0
    read_port: int = 0
    is_draining: bool = False


@asynccontextmanager
async def run_results(
    config: ResultsConfig, server: ApiServer, listen: Listen, environment: Mapping[str, str]
) -> AsyncIterator[Running]:
    """Serve until the context ends."""
    async with AsyncExitStack() as stack:
        index = SqlIndex(config.index_url(environment))
        stack.push_async_callback(index.close)
        spool = config.folder / "spool"
        store = Store(_objects(config), index, spool, config.store_limits(), utc_now)
        await store.clear()
        api = KubeApi(server)
        stack.push_async_callback(api.close)
        access = Access(api, config.operator_service_account)
        metrics, running = ResultsMetrics(), Running()
        await stack.enter_async_context(_task(_keep_open(store)))
        uploads = upload_application(store, access, utc_now)
        reading = read_application(store, access)
        add_bundles(reading, store, access, utc_now)
        for app, port in ((uploads, "upload"), (reading, "read")):
            count_answers(app, partial(metrics.answered, port))
        add_probes(reading, lambda: store.is_open and not running.is_draining, metrics.scrape)
        running.upload_port = await _serve(stack, uploads, listen, listen.upload_port)
        running.read_port = await _serve(stack, reading, listen, listen.read_port)
        retention = Retention(store, api, _policy(config.retention), utc_now)
        every = config.retention.interval_seconds
        await stack.enter_async_context(_task(_tidy(store, retention, metrics, every)))
        await stack.enter_async_context(_task(_make_room(store, retention)))
        yield running


def utc_now() -> datetime:
    """The time."""
    return datetime.now(UTC)


def _objects(config: ResultsConfig) -> Objects:
    if config.bucket is None:
        return FileObjects(config.folder / "objects")
    return BucketObjects(config.bucket.url, config.bucket.config)


def _policy(config: RetentionConfig) -> Policy:
    most = config.max_total_mib
    return Policy(
        max_age=None if config.max_age_days is None else timedelta(days=config.max_age_days),
        max_total_bytes=None if most is None else most << 20,
    )


async def _serve(stack: AsyncExitStack, app: web.Application, listen: Listen, port: int) -> int:
    runner = web.AppRunner(
        app, access_log=None, handler_cancellation=True, shutdown_timeout=listen.drain_seconds
    )
    await runner.setup()
    stack.push_async_callback(runner.cleanup)
    await web.TCPSite(runner, listen.host, port).start()
    return int(runner.addresses[0][1])


async def _keep_open(store: Store) -> None:
    """Open the index, also again after its database was gone."""
    while True:
        if not store.is_open:
            try:
                found = await store.open()
                _LOGGER.info("the index is open; %d folders were new to it", found)
            except PlatformError as error:
                _LOGGER.error("%s", error)
        await asyncio.sleep(_OPEN_EVERY_SECONDS)


async def _tidy(store: Store, retention: Retention, metrics: ResultsMetrics, every: float) -> None:
    """Remove what has to go, and what belongs to nothing."""
    while True:
        if not store.is_open:
            await asyncio.sleep(_OPEN_EVERY_SECONDS)
            continue
        try:
            await store.reindex()
            await retention.run()
            await store.sweep()
            metrics.set_stored(await store.total_bytes())
        except PlatformError as error:
            _LOGGER.error("retention: %s", error)
        await asyncio.sleep(every)


async def _make_room(store: Store, retention: Retention) -> None:
    """Run retention at once when somebody was refused, now and then."""
    while True:
        room_bytes = await store.wanted_room()
        try:
            await retention.run(room_bytes)
        except PlatformError as error:
            _LOGGER.error("retention: %s", error)
        await asyncio.sleep(_ROOM_EVERY_SECONDS)


@asynccontextmanager
async def _task(work: Coroutine[None, None, None]) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
