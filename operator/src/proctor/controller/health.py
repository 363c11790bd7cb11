"""The operator's own HTTP server: is it alive, is it ready, and its metrics."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from proctor.controller.watched import Watched
from proctor.controller.workers import Workers

STALE_PASS_SECONDS = 120
STALE_WATCH_SECONDS = 900
"""A watch shows a sign of life at least at each reconnection, every five minutes."""


@dataclass(frozen=True, slots=True)
class Health:
    """What the endpoints look at.

    Args:
        watch_ages: Seconds since the last sign of life of each watch.
        metrics: The text format of all series.
    """

    workers: Workers
    watched: Watched
    watch_ages: Callable[[], Mapping[str, float]]
    metrics: Callable[[], bytes]

    def app(self) -> web.Application:
        """The application."""
        app = web.Application()
        app.router.add_get("/healthz", self._healthz)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        return app

    async def _healthz(self, _request: web.Request) -> web.Response:
        last_pass = time.monotonic() - self.workers.last_pass
        ages = self.watch_ages()
        stale = [name for name, age in ages.items() if age > STALE_WATCH_SECONDS]
        if last_pass > STALE_PASS_SECONDS:
            stale.append("passes")
        body = {
            "secondsSinceLastPass": round(last_pass, 1),
            "secondsSinceWatch": {name: round(age, 1) for name, age in ages.items()},
            "stale": stale,
        }
        return web.json_response(body, status=503 if stale else 200)

    async def _readyz(self, _request: web.Request) -> web.Response:
        ready = self.watched.is_complete
        return web.json_response({"firstListsComplete": ready}, status=200 if ready else 503)

    async def _metrics(self, _request: web.Request) -> web.Response:
        return web.Response(
            body=self.metrics(), headers={"Content-Type": "text/plain; version=0.0.4"}
        )
