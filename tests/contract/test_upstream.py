"""The port ``Upstream``: one suite over a provider on loopback and a script."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import pytest
import pytest_asyncio

from builders_gateway import A_COMPLETION, COMPLETION_CHUNKS, MODEL, body, sse
from fakes.provider import json_reply, running_provider, stream_reply
from proctor.gateway.http_upstream import HttpUpstream, client_session
from proctor.gateway.providers import FixedKey, Provider
from proctor.gateway.retries import Retries
from proctor.gateway.scripted_upstream import ScriptedUpstream
from proctor.gateway.upstream import Answer, Forward, Upstream
from proctor.wire.formats import OPENAI_CHAT
from proctor.wire.script_text import parse_script

SCRIPT = f"""
rules:
  - when: {{contains: fail}}
    error: {{status: 429, message: too many}}
  - when: {{model: {MODEL}}}
    answer: {{text: "Grüße", usage: {{input: 100, output: 20}}}}
"""


@dataclass
class World:
    """An upstream, and a call on its way to it."""

    upstream: Upstream
    forward: Forward


def a_call(text: str, *, stream: bool = False) -> Forward:
    options = {"stream": True, "stream_options": {"include_usage": True}} if stream else {}
    messages = [{"role": "user", "content": text}]
    data = body(model=MODEL, messages=messages, **options)
    return Forward(OPENAI_CHAT, OPENAI_CHAT.parse(data), data)


@asynccontextmanager
async def scripted_world(call: Forward) -> AsyncIterator[World]:
    yield World(ScriptedUpstream(), replace(call, script=parse_script(SCRIPT)))


@asynccontextmanager
async def http_world(call: Forward) -> AsyncIterator[World]:
    async with running_provider() as fake, client_session() as session:
        provider = Provider("fake", (OPENAI_CHAT,), fake.url, FixedKey("k"))
        if call.operation == "list":
            fake.replies = [json_reply({"data": [{"id": MODEL}]})]
        elif b"fail" in call.body:
            fake.replies = [json_reply({"error": {"message": "too many"}}, 429)]
        elif call.request.stream:
            fake.replies = [stream_reply(sse(COMPLETION_CHUNKS))]
        else:
            fake.replies = [json_reply(A_COMPLETION)]
        yield World(HttpUpstream(session, Retries(0)), replace(call, provider=provider))


CALLS = {
    "body": a_call("hi"),
    "stream": a_call("hi", stream=True),
    "failure": a_call("fail"),
    "listing": replace(a_call("hi"), operation="list"),
}


@pytest_asyncio.fixture(
    params=[pytest.param(scripted_world, id="scripted"), pytest.param(http_world, id="http")]
)
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    marker = request.node.get_closest_marker("parametrize")
    assert marker is None
    async with request.param(CALLS[request.node.originalname.rpartition("_")[2]]) as opened:
        yield opened


async def read(answer: Answer) -> bytes:
    return b"".join([chunk async for chunk in answer.body])


async def test_an_answer_with_usage_is_one_body(world: World) -> None:
    async with world.upstream.answer(world.forward) as answer:
        data = json.loads(await read(answer))
        assert (answer.status, answer.is_stream) == (200, False)
    assert data["usage"]["completion_tokens"] == 20


async def test_an_answer_with_usage_is_a_stream(world: World) -> None:
    meter = OPENAI_CHAT.meter(True)
    async with world.upstream.answer(world.forward) as answer:
        assert (answer.status, answer.is_stream) == (200, True)
        meter.feed(await read(answer))
    assert meter.reading().complete


async def test_an_error_keeps_its_status_and_shape_in_a_failure(world: World) -> None:
    async with world.upstream.answer(world.forward) as answer:
        assert answer.status == 429
        assert json.loads(await read(answer))["error"]["message"] == "too many"


async def test_leaving_before_the_end_is_allowed_in_a_stream(world: World) -> None:
    async with world.upstream.answer(world.forward) as answer:
        assert answer.status == 200


async def test_models_are_told_in_a_listing(world: World) -> None:
    async with world.upstream.answer(world.forward) as answer:
        assert [m["id"] for m in json.loads(await read(answer))["data"]] == [MODEL]
