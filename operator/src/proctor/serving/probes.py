"""What the kubelet and Prometheus ask of every server."""

from collections.abc import Callable

from aiohttp import web


def add_probes(
    app: web.Application, is_ready: Callable[[], bool], metrics: Callable[[], tuple[bytes, str]]
) -> None:
    """Add what the kubelet and Prometheus ask; ``metrics`` gives a body and its type."""

    async def healthz(_: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_: web.Request) -> web.Response:
        ready = is_ready()
        return web.Response(text="ok\n" if ready else "not ready\n", status=200 if ready else 503)

    async def scrape(_: web.Request) -> web.Response:
        body, content_type = metrics()
        return web.Response(body=body, headers={"content-type": content_type})

    app.router.add_get("/healthz", healthz)
    app.router.add_get("/readyz", readyz)
    app.router.add_get("/metrics", scrape)
