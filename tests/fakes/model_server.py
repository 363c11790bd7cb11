"""A model API on loopback that answers what a test tells it, one answer a request."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer. ``body`` is JSON unless it is bytes; ``raw`` replaces all of it."""

    body: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    chunked: bool = False
    length: bool = True
    raw: bytes | None = None

    def to_bytes(self) -> bytes:
        if self.raw is not None:
            return self.raw
        body = self.body if isinstance(self.body, bytes) else json.dumps(self.body).encode()
        lines = [f"HTTP/1.1 {self.status} Said", *(f"{k}: {v}" for k, v in self.headers.items())]
        if self.chunked:
            lines.append("Transfer-Encoding: chunked")
            half = len(body) // 2
            parts = [part for part in (body[:half], body[half:]) if part]
            body = b"".join(b"%x;x=y\r\n%b\r\n" % (len(p), p) for p in parts) + b"0\r\nt: 1\r\n\r\n"
        elif self.length:
            lines.append(f"Content-Length: {len(body)}")
        return "\r\n".join([*lines, "", ""]).encode() + body


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came."""

    path: str
    headers: Mapping[str, str]
    body: Any


@dataclass(slots=True)
class ModelServer:
    """What was asked, and what is still to be answered; without an answer it keeps silent."""

    url: str
    answers: list[Answer]
    asked: list[Asked] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            self.asked.append(await _read(reader))
            if self.answers:
                writer.write(self.answers.pop(0).to_bytes())
                await writer.drain()
            else:
                await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@contextlib.asynccontextmanager
async def model_server(*answers: Answer) -> AsyncIterator[ModelServer]:
    fake = ModelServer("", list(answers))
    server = await asyncio.start_server(fake.serve, "127.0.0.1", 0)
    fake.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield fake
    finally:
        await _quiet()  # first: asyncio leaks a connection whose server closes while it accepts
        server.close()
        await _quiet()


async def _quiet() -> None:
    """Wait for connections that are still being accepted, read or closed."""
    await asyncio.sleep(0)
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
        await asyncio.sleep(0)


async def _read(reader: asyncio.StreamReader) -> Asked:
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
    body = await reader.readexactly(int(headers["content-length"]))
    return Asked(head[0].split()[1], headers, json.loads(body))
