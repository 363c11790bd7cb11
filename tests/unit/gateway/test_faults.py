"""Providers and clients that misbehave: no crash, bounded memory, the right one is blamed."""

import asyncio
import gzip
import json
import resource
import zlib
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from builders_gateway import (
    A_MESSAGE,
    COMPLETION_CHUNKS,
    MESSAGE_EVENTS,
    MODEL,
    an_account,
    prices,
    sse,
)
from fakes.provider import FakeProvider, Reply, json_reply, running_provider, stream_reply
from fakes.raw_provider import RawProvider, raw_server, running_raw_provider
from proctor.api.usage import Bill, Usage
from proctor.gateway.decoding import Decoder
from proctor.gateway.embed import LocalGateway
from proctor.gateway.events import CallEnded
from proctor.gateway.ledger import OpenCall
from proctor.gateway.providers import FixedKey, Provider
from proctor.gateway.retries import Retries, Timeouts
from proctor.gateway.watch import NoWatch
from proctor.wire.formats import ANTHROPIC_MESSAGES, OPENAI_CHAT

KEY = "sk-provider-secret"
MIB = 1024 * 1024
JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


class Over(NoWatch):
    """Knows when a call is over."""

    def __init__(self) -> None:
        self.ends: asyncio.Queue[CallEnded] = asyncio.Queue()

    def ended(self, call: OpenCall, ended: CallEnded) -> None:
        self.ends.put_nowait(ended)


class Bench:
    def __init__(self, gateway: LocalGateway, client: aiohttp.ClientSession, over: Over) -> None:
        self.gateway, self.client, self._over = gateway, client, over
        self.key = gateway.admit(an_account()).agent

    def post(self, path: str = "/v1/messages", **fields: Any) -> Any:
        return self.client.post(
            f"{self.gateway.url}{path}",
            json={
                "model": MODEL,
                "max_tokens": 64,
                "messages": [{"role": "user", "content": "hi"}],
                **fields,
            },
            headers={"x-api-key": self.key},
        )

    async def call(self, path: str = "/v1/messages", **fields: Any) -> tuple[int, bytes]:
        async with self.post(path, **fields) as response:
            return response.status, await response.read()

    async def bill(self) -> Bill:
        """When the call is over."""
        await asyncio.wait_for(self._over.ends.get(), 20)
        return self.gateway.bill("trial-1", 1)


@asynccontextmanager
async def a_bench(url: str, **timeouts: float) -> AsyncIterator[Bench]:
    providers = (
        Provider("slow", (ANTHROPIC_MESSAGES,), url, FixedKey(KEY)),
        Provider("slow", (OPENAI_CHAT,), f"{url}/v1", FixedKey(KEY)),
    )
    over = Over()
    async with (
        aiohttp.ClientSession(auto_decompress=False) as client,
        LocalGateway(
            providers,
            prices=prices(),
            retries=Retries(attempts=0),
            timeouts=Timeouts(**timeouts),
            watch=over,
        ) as gateway,
    ):
        yield Bench(gateway, client, over)


@asynccontextmanager
async def with_reply(reply: Reply, **timeouts: float) -> AsyncIterator[tuple[Bench, FakeProvider]]:
    async with running_provider() as provider, a_bench(provider.url, **timeouts) as bench:
        provider.replies = [reply]
        yield bench, provider


async def test_a_provider_that_does_not_begin_to_answer_is_given_up() -> None:
    silence = RawProvider((), hold=True)
    async with raw_server(silence), a_bench(silence.url, first_byte_seconds=0.1) as bench:
        status, _ = await bench.call()
        bill = await bench.bill()
    assert status == 502
    assert bill.provider_error == "provider 'slow' did not answer: TimeoutError"
    assert (bill.calls, bill.cost_complete) == (0, False)


@pytest.mark.parametrize(
    "timeouts",
    [
        pytest.param({"idle_seconds": 0.1}, id="between-two-bytes"),
        pytest.param({"total_seconds": 0.2}, id="in-all"),
    ],
)
async def test_a_slow_body_is_cut_and_the_provider_blamed(timeouts: dict[str, float]) -> None:
    reply = stream_reply(sse(MESSAGE_EVENTS[:3]), hold=True)
    async with with_reply(reply, **timeouts) as (bench, provider):
        with pytest.raises(aiohttp.ClientPayloadError):
            await bench.call(stream=True)
        bill = await bench.bill()
        await asyncio.wait_for(provider.gone.wait(), 5)
    assert bill.provider_error == "provider 'slow' broke off its answer: TimeoutError"
    assert (bill.calls, bill.usage.input, bill.cost_complete) == (1, 100, False)
    assert bill.usage.output > 0, "what was seen is estimated"


async def test_a_client_that_takes_nothing_is_cut_off_and_pays_for_what_it_asked() -> None:
    part = sse([MESSAGE_EVENTS[2]]) * 1000
    flood = RawProvider(forever(EVENTS + sse(MESSAGE_EVENTS[:2]), part))
    async with raw_server(flood), a_bench(flood.url, idle_seconds=0.3) as bench:
        response = await bench.post(stream=True)
        bill = await bench.bill()
        await asyncio.wait_for(flood.gone.wait(), 5)
        response.close()
    assert (bill.calls, bill.cost_complete, bill.provider_error) == (1, False, None)
    assert bill.usage.output > 1000


def forever(first: bytes, part: bytes) -> Iterator[bytes]:
    yield first
    while True:
        yield part


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b'{"usage": {"input_tok', id="half"),
        pytest.param(b"<html>busy</html>", id="no-json"),
        pytest.param(b"[]", id="no-object"),
        pytest.param(b"", id="empty"),
        pytest.param(b"[" * 200_000, id="deep"),
    ],
)
async def test_a_malformed_answer_passes_and_is_the_providers_fault(body: bytes) -> None:
    reply = Reply(200, [body], {"content-type": "application/json"})
    async with with_reply(reply) as (bench, _):
        assert await bench.call() == (200, body)
        bill = await bench.bill()
    assert "provider 'slow' answered 200" in str(bill.provider_error)
    assert (bill.calls, bill.cost_complete) == (1, False)
    assert bill.cost_usd, "it is taken for what it may have cost"


async def test_a_stream_that_ends_before_its_end_is_the_providers_fault() -> None:
    async with with_reply(stream_reply(sse(MESSAGE_EVENTS[:3]))) as (bench, _):
        status, _ = await bench.call(stream=True)
        bill = await bench.bill()
    assert status == 200
    assert bill.provider_error is not None
    assert not bill.cost_complete


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        pytest.param("gzip", gzip.compress, id="gzip"),
        pytest.param("deflate", zlib.compress, id="deflate"),
    ],
)
async def test_a_compressed_answer_passes_as_it_is_and_is_read(
    encoding: str, compress: Any
) -> None:
    body = compress(json.dumps(A_MESSAGE).encode())
    headers = {"content-type": "application/json", "content-encoding": encoding}
    async with with_reply(Reply(200, [body[:9], body[9:]], headers)) as (bench, _):
        async with bench.post() as response:
            assert response.headers["content-encoding"] == encoding
            assert await response.read() == body
        bill = await bench.bill()
    assert (bill.usage, bill.cost_complete) == (Usage(100, 20), True)


async def test_a_compressed_chat_stream_passes_as_it_is_and_is_read() -> None:
    body = gzip.compress(sse(COMPLETION_CHUNKS))
    headers = {"content-type": "text/event-stream", "content-encoding": "gzip"}
    async with with_reply(Reply(200, [body], headers)) as (bench, _):
        assert await bench.call("/v1/chat/completions", stream=True) == (200, body)
        bill = await bench.bill()
    assert (bill.usage, bill.cost_complete) == (Usage(100, 20), True)


async def test_a_compressed_error_is_readable_and_shows_no_key() -> None:
    error = {"type": "error", "error": {"type": "x", "message": f"bad key {KEY}"}}
    body = gzip.compress(json.dumps(error).encode())
    reply = Reply(403, [body], {"content-type": "application/json", "content-encoding": "gzip"})
    async with with_reply(reply) as (bench, _), bench.post() as response:
        assert "content-encoding" not in response.headers
        assert (await response.json())["error"]["message"] == "bad key [key]"


async def test_an_encoding_that_cannot_be_read_is_no_proof_of_little() -> None:
    headers = {"content-type": "application/json", "content-encoding": "br"}
    async with with_reply(Reply(200, [b"\x8b\x02\x80"], headers)) as (bench, _):
        await bench.call()
        bill = await bench.bill()
    assert (bill.usage.output, bill.cost_complete) == (64, False)


def test_a_few_bytes_that_stand_for_very_many_are_bounded() -> None:
    bomb = zlib.compressobj(1, zlib.DEFLATED, 31)
    data = b"".join(bomb.compress(bytes(MIB)) for _ in range(300)) + bomb.flush()
    decoder, most, total = Decoder("gzip"), 0, 0
    for start in range(0, len(data), 4096):
        pieces = decoder.feed(data[start : start + 4096])
        most = max(most, sum(map(len, pieces)))
        total += sum(map(len, pieces))
    assert total <= 256 * MIB
    assert most < 8 * MIB
    assert Decoder("gzip").feed(b"no gzip") == []


@pytest.mark.parametrize("size", [1, 2, 3, 7])
@pytest.mark.parametrize(
    ("path", "stream", "usage"),
    [
        pytest.param("/v1/messages", sse(MESSAGE_EVENTS), Usage(100, 20, 7), id="messages"),
        pytest.param(
            "/v1/chat/completions", sse(COMPLETION_CHUNKS), Usage(100, 20), id="completions"
        ),
    ],
)
async def test_chunks_may_end_inside_a_character_and_inside_an_event(
    path: str, stream: bytes, usage: Usage, size: int
) -> None:
    parts = [stream[i : i + size] for i in range(0, len(stream), size)]
    async with with_reply(stream_reply(*parts)) as (bench, _):
        asked = {"stream": True, "stream_options": {"include_usage": True}}
        assert await bench.call(path, **asked) == (200, stream)
        bill = await bench.bill()
    assert (bill.usage, bill.cost_complete) == (usage, True)


LARGE = 100 * MIB


def one_body() -> Iterable[bytes]:
    yield JSON + f"content-length: {LARGE + 2}\r\n\r\n".encode() + b'"'
    for _ in range(100):
        yield b"x" * MIB
    yield b'"'


def one_event() -> Iterable[bytes]:
    yield EVENTS + b"data: "
    for _ in range(100):
        yield b"x" * MIB
    yield b"\n\n"


def one_line_break_after_another() -> Iterable[bytes]:
    yield EVENTS
    for _ in range(100):
        yield b"\n" * MIB


def many_events() -> Iterable[bytes]:
    yield EVENTS
    for _ in range(100):
        yield sse([MESSAGE_EVENTS[2]]) + sse([{"type": "ping", "pad": "x" * MIB}])


@pytest.mark.parametrize(
    "parts",
    [
        pytest.param(one_body, id="body"),
        pytest.param(one_event, id="one-event"),
        pytest.param(many_events, id="events"),
        pytest.param(one_line_break_after_another, id="line-breaks"),
    ],
)
async def test_a_hundred_megabytes_pass_in_bounded_memory(parts: Any) -> None:
    provider = RawProvider(parts())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    async with raw_server(provider), a_bench(provider.url) as bench:
        received = 0
        async with bench.post(stream=True) as response:
            async for chunk in response.content.iter_any():
                received += len(chunk)
        bill = await bench.bill()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert received > 90 * MIB
    assert grown < 120 * MIB, f"{grown / MIB:.0f} MiB"
    assert (bill.calls, bill.cost_complete) == (1, False)


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"x-a: " + b"y" * MIB + b"\r\n", id="one-of-a-megabyte"),
        pytest.param(b"".join(b"x-%d: y\r\n" % n for n in range(100_000)), id="very-many"),
        pytest.param(b"no header at all\r\n", id="no-header"),
    ],
)
async def test_a_flood_of_headers_is_the_providers_fault(head: bytes) -> None:
    answer = JSON + head + b"content-length: 2\r\n\r\n{}"
    async with running_raw_provider(answer) as provider, a_bench(provider.url) as bench:
        status, _ = await bench.call()
        bill = await bench.bill()
    assert status == 502
    assert "provider 'slow' did not answer" in str(bill.provider_error)


async def test_a_client_that_floods_with_headers_is_refused_and_the_next_one_served() -> None:
    async with with_reply(json_reply(A_MESSAGE)) as (bench, provider):
        for headers in ({"x-flood": "y" * MIB}, {f"x-{n}": "y" for n in range(20_000)}):
            try:
                async with bench.client.post(
                    f"{bench.gateway.url}/v1/messages", data=b"{}", headers=headers
                ) as response:
                    assert response.status >= 400
            except (aiohttp.ClientError, ConnectionError):
                continue
        assert provider.asked == []
        assert (await bench.call())[0] == 200
