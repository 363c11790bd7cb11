"""The least that an aiohttp proxy can do: passes bytes on and reads usage. Prints its port."""

import asyncio
import json
import sys

import aiohttp
from aiohttp import web


class Passing:
    def __init__(self, upstream: str) -> None:
        self.upstream = upstream
        self.tokens = 0

    async def start(self, _: web.Application) -> None:
        connector = aiohttp.TCPConnector(limit=0)
        self.session = aiohttp.ClientSession(connector=connector, auto_decompress=False)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        url = self.upstream + request.path_qs
        headers = {"content-type": "application/json"}
        async with self.session.post(url, data=body, headers=headers) as answer:
            response = web.StreamResponse(status=answer.status)
            response.content_type = answer.content_type
            await response.prepare(request)
            seen = b""
            async for chunk in answer.content.iter_any():
                await response.write(chunk)
                seen += chunk
            self.count(seen, stream=answer.content_type == "text/event-stream")
            await response.write_eof()
            return response

    def count(self, seen: bytes, *, stream: bool) -> None:
        if not stream:
            self.tokens += json.loads(seen)["usage"]["total_tokens"]
            return
        for event in seen.split(b"\n\n"):
            if b'"usage"' in event:
                self.tokens += json.loads(event.removeprefix(b"data: "))["usage"]["total_tokens"]


async def main(upstream: str) -> None:
    passing = Passing(upstream)
    app = web.Application()
    app.on_startup.append(passing.start)
    app.router.add_post("/v1/chat/completions", passing.handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=4096).start()
    sys.stdout.write(json.dumps({"port": runner.addresses[0][1]}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
