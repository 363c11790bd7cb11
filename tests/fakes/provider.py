"""A provider of models on loopback: answers what it is told, and remembers what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

STREAM = {"content-type": "text/event-stream"}


@dataclass
class Reply:
    """One answer.

    Args:
        parts: Sent one after the other.
        cut: Whether the connection ends in the middle of the body.
        hold: Whether the answer stays open after the parts, until the client goes away.
    """

    status: int = 200
    parts: Sequence[bytes] = ()
    headers: dict[str, str] = field(default_factory=dict)
    cut: bool = False
    hold: bool = False


def json_reply(body: dict[str, Any], status: int = 200, **headers: str) -> Reply:
    content = {"content-type": "application/json"}
    return Reply(status, [json.dumps(body, ensure_ascii=False).encode()], {**content, **headers})


def stream_reply(*parts: bytes, **options: Any) -> Reply:
    return Reply(200, parts, STREAM, **options)


@dataclass(frozen=True)
class Asked:
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes


class FakeProvider:
    """Answers with its replies in turn, the last one again and again."""

    def __init__(self) -> None:
        self.url = ""
        self.replies: list[Reply] = []
        self.asked: list[Asked] = []
        self.reached = asyncio.Event()
        self.gone = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        headers = {name.lower(): value for name, value in request.headers.items()}
        self.asked.append(Asked(str(request.rel_url), headers, await request.read()))
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        response = web.StreamResponse(status=reply.status, headers=reply.headers)
        await response.prepare(request)
        try:
            for part in reply.parts:
                await response.write(part)
            self.reached.set()
            if reply.hold:
                await asyncio.Event().wait()
        except (asyncio.CancelledError, ConnectionError):
            self.gone.set()
            raise
        if reply.cut and request.transport is not None:
            request.transport.close()
        return response


@asynccontextmanager
async def running_provider() -> AsyncIterator[FakeProvider]:
    provider = FakeProvider()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", provider.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    provider.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield provider
    finally:
        await runner.cleanup()
