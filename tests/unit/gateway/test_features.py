"""The table of formats and features in docs/gateway.md: each cell by the maker's own SDK.

The table is the list of cases: a feature that it claims and nobody tests fails here, and so does
one that is tested and not claimed.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio

from builders_gateway import MODEL, an_account, prices
from builders_wire import SAMPLES, Sample
from fakes.api_clients import FailedError, Said, client
from fakes.provider import FakeProvider, json_reply, running_provider, stream_reply
from proctor.api.usage import Usage
from proctor.gateway.embed import LocalGateway
from proctor.gateway.ledger import Refusal
from proctor.gateway.providers import FixedKey, Provider
from proctor.gateway.retries import Retries
from proctor.gateway.watch import NoWatch

# Google's SDK inherits from aiohttp's session, which aiohttp discourages.
pytestmark = pytest.mark.filterwarnings("ignore:Inheritance class AiohttpClientSession")

PAGE = Path(__file__).parents[3] / "docs" / "gateway.md"
SCRIPT = """
rules:
  - when: {contains: count}
    answer: {text: x, usage: {input: 40, output: 2, cacheRead: 2}}
  - answer:
      thinking: "I think, therefore I write ä."
      text: "Grüße, I write the file."
      tools: [{name: write, input: {path: a.py, content: "print('ä')"}}, {name: ls}]
      usage: {input: 100, output: 80, cacheRead: 20, reasoning: 30, %s}
"""
WRITES = "cacheWrite: 10, cacheWrite1h: 4"
TOOLS = (("write", {"path": "a.py", "content": "print('ä')"}), ("ls", {}))


class Refusals(NoWatch):
    """Counts what the gateway refuses."""

    def __init__(self) -> None:
        self.count = 0

    def refused(self, account: Any, refusal: Refusal) -> None:
        self.count += 1


class Bench:
    """A gateway with a script and a fake provider, asked in one format."""

    def __init__(self, name: str, provider: FakeProvider, gateway: LocalGateway) -> None:
        self.name, self.provider, self.gateway = name, provider, gateway
        self.sample: Sample = SAMPLES[name]
        self.refusals = Refusals()

    async def scripted(self, script: str, how: str = "ask", **options: Any) -> Said:
        retries = options.pop("retries", 0)
        key = self.gateway.admit(an_account(script, **options)).agent
        async with client(self.name, self.gateway.url, key, retries=retries) as api:
            return await getattr(api, how)()

    async def live(self, how: str = "ask") -> Any:
        key = self.gateway.admit(an_account()).agent
        async with client(self.name, self.gateway.url, key) as api:
            return await getattr(api, how)()

    async def raw(self, *, stream: bool = True) -> bytes:
        """The answer's bytes without any SDK, as far as they come."""
        key = self.gateway.admit(an_account()).agent
        url = self.gateway.url + self.sample.paths[stream]
        received = b""
        headers = {"authorization": f"Bearer {key}"}
        async with (
            aiohttp.ClientSession() as session,
            session.post(url, json=self.sample.body(stream=stream), headers=headers) as response,
        ):
            try:
                async for chunk in response.content.iter_any():
                    received += chunk
            except aiohttp.ClientPayloadError:
                return received + b" CUT"
        return received

    @property
    def entry(self) -> dict[str, Any]:
        return self.gateway.entries("trial-1", 1)[-1]


@pytest_asyncio.fixture
async def bench(request: pytest.FixtureRequest) -> AsyncIterator[Bench]:
    name = request.node.callspec.params["format_name"]
    async with running_provider() as provider:
        served = SAMPLES[name].wire_format
        base = f"{provider.url}/v1" if name.startswith("openai") else provider.url
        found = Provider("fake", (served,), base, FixedKey("sk-provider"))
        refusals = Refusals()
        async with LocalGateway(
            [found], prices=prices(), retries=Retries(0), watch=refusals
        ) as gateway:
            made = Bench(name, provider, gateway)
            made.refusals = refusals
            yield made


async def whole(bench: Bench) -> None:
    said = await bench.scripted(SCRIPT % "")
    assert said.text == "Grüße, I write the file."
    assert (said.heard, said.output) == (120, 80)


async def streamed(bench: Bench) -> None:
    assert await bench.scripted(SCRIPT % "", "stream") == await bench.scripted(SCRIPT % "")


async def tools(bench: Bench) -> None:
    for how in ("ask", "stream"):
        assert (await bench.scripted(SCRIPT % "", how)).tools == TOOLS
        assert bench.entry["tools"] == ["write", "ls"]


async def thinking(bench: Bench) -> None:
    for how in ("ask", "stream"):
        assert (await bench.scripted(SCRIPT % "", how)).thinking == "I think, therefore I write ä."


async def reasoning(bench: Bench) -> None:
    assert (await bench.scripted(SCRIPT % "")).reasoning == 30
    assert bench.entry["details"] == {"reasoning": 30}


async def cached_input(bench: Bench) -> None:
    assert (await bench.scripted(SCRIPT % "", "stream")).cached == 20
    assert bench.entry["usage"]["cache_read"] == 20


async def cache_writes(bench: Bench) -> None:
    said = await bench.scripted(SCRIPT % WRITES)
    assert (said.heard, bench.entry["usage"]["cache_write"]) == (130, 10)


async def cache_writes_of_an_hour(bench: Bench) -> None:
    await bench.scripted(SCRIPT % WRITES)
    assert bench.entry["details"]["cache_write_1h"] == 4


async def images_and_sound(bench: Bench) -> None:
    body = json.loads(bench.sample.answer)
    for details in ("prompt_tokens_details", "input_tokens_details"):
        if bench.name.startswith("openai"):
            body["usage"][details] = {"audio_tokens": 8, "image_tokens": 12, "cached_tokens": 0}
    bench.provider.replies = [json_reply(body)]
    await bench.live()
    details = bench.entry["details"]
    assert (details["input_audio"], details["input_image"]) == (8, 12)


async def counting(bench: Bench) -> None:
    key = bench.gateway.admit(an_account(SCRIPT % "")).agent
    async with client(bench.name, bench.gateway.url, key) as api:
        assert await api.count("count these") == 42
    assert bench.gateway.bill("trial-1", 1).calls == 0


async def models(bench: Bench) -> None:
    script = "rules: [{when: {model: model-9}, answer: {text: x}}]"
    assert await bench.scripted(script, "models") == ["model-9"]


def failing(status: int) -> Callable[[Bench], Awaitable[None]]:
    async def fails(bench: Bench) -> None:
        for how in ("ask", "stream"):
            script = f"rules: [{{error: {{status: {status}, message: not now}}}}]"
            with pytest.raises(FailedError, match="not now") as caught:
                await bench.scripted(script, how)
            assert caught.value.status == status
        blamed = bench.gateway.bill("trial-1", 1).provider_error is not None
        assert blamed is (status != 400)

    return fails


async def unknown_key(bench: Bench) -> None:
    with pytest.raises(FailedError, match="not one of a running trial") as caught:
        async with client(bench.name, bench.gateway.url, "nobody's", retries=3) as api:
            await api.ask()
    assert caught.value.status == 401


async def refusal(bench: Bench) -> None:
    key = bench.gateway.admit(an_account(SCRIPT % "", max_model_calls=1)).agent
    async with client(bench.name, bench.gateway.url, key) as api:
        await api.ask()
    for how in ("ask", "stream"):
        with pytest.raises(FailedError, match="refused by Proctor: 1 of 1 model calls") as caught:
            async with client(bench.name, bench.gateway.url, key, retries=3) as api:
                await getattr(api, how)()
        assert caught.value.status == bench.sample.wire_format.refusal_status
    assert bench.refusals.count == 2  # asked once each time: final for the client's retries


async def broken(bench: Bench, script: str) -> None:
    """Ask for an answer that each SDK takes badly in its own way, or takes for less than it is."""
    try:
        said = await bench.scripted(script)
    except Exception:  # noqa: BLE001 - SDKs raise what their parsers do
        return
    assert said.text != "x" * 90


async def malformed(bench: Bench) -> None:
    for kind in ("truncated", "unfinished", "not-json", "empty"):
        script = f"rules: [{{answer: {{text: {'x' * 90}, malformed: {kind}}}}}]"
        await broken(bench, script)
        bill = bench.gateway.bill("trial-1", 1)
        assert bill.provider_error is not None
        assert not bill.cost_complete


async def cut_stream(bench: Bench) -> None:
    half = bench.sample.stream[: len(bench.sample.stream) * 2 // 3]
    bench.provider.replies = [stream_reply(half, cut=True)]
    assert await bench.raw() == half + b" CUT"
    entry, bill = bench.entry, bench.gateway.bill("trial-1", 1)
    assert (entry["estimated"], entry["complete"]) == (True, False)
    assert bill.usage.input > 0
    assert (bill.cost_complete, "broke off" in str(bill.provider_error)) == (False, True)


async def empty_figures(bench: Bench) -> None:
    name = "usageMetadata" if bench.name == "gemini" else "usage"
    body = {**json.loads(bench.sample.answer), name: {}}
    bench.provider.replies = [json_reply(body)]
    await bench.raw(stream=False)
    entry, bill = bench.entry, bench.gateway.bill("trial-1", 1)
    assert (entry["estimated"], entry["complete"], bill.cost_complete) == (True, False, False)
    assert bill.usage.input > 0
    assert bill.usage.output > 0
    assert bill.provider_error is None


async def unchanged(bench: Bench) -> None:
    for stream, data in ((False, bench.sample.answer), (True, bench.sample.stream)):
        parts = [data[at : at + 7] for at in range(0, len(data), 7)]
        kind = "text/event-stream" if stream else "application/json"
        bench.provider.replies = [stream_reply(*parts)]
        bench.provider.replies[0].headers = {"content-type": kind}
        assert await bench.raw(stream=stream) == data
        assert bench.gateway.bill("trial-1", 1).cost_complete
        assert Usage(**bench.entry["usage"]) == bench.sample.usage[stream]


async def leaving(bench: Bench) -> None:
    bench.provider.replies = [stream_reply(bench.sample.stream[:90], hold=True)]
    asking = asyncio.ensure_future(bench.raw())
    await asyncio.wait_for(bench.provider.reached.wait(), 5)
    asking.cancel()
    await asyncio.wait_for(bench.provider.gone.wait(), 5)


async def provider_key(bench: Bench) -> None:
    bench.provider.replies = [json_reply(json.loads(bench.sample.answer))]
    await bench.live()
    (asked,) = bench.provider.asked
    assert asked.path.partition("?")[0] == bench.sample.paths[0]
    sent = [n for n, v in asked.headers.items() if v.removeprefix("Bearer ") == "sk-provider"]
    assert len(sent) == 1
    assert "proctor-agent" not in str(asked)


async def all_of_usage(bench: Bench) -> None:
    """An agent that asks for a part of the answer gets all of it, with its usage."""
    bench.provider.replies = [json_reply(json.loads(bench.sample.answer))]
    key = bench.gateway.admit(an_account()).agent
    url = f"{bench.gateway.url}{bench.sample.paths[0]}?fields=candidates&%24fields=x&key=k&a=b"
    headers = {"x-goog-api-key": key, "X-Goog-FieldMask": "candidates"}
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=bench.sample.body(), headers=headers) as response,
    ):
        assert response.status == 200
    (asked,) = bench.provider.asked
    assert asked.path.partition("?")[2] == "a=b"
    assert "x-goog-fieldmask" not in asked.headers


FEATURES: dict[str, Callable[[Bench], Awaitable[None]]] = {
    "whole answers": whole,
    "streamed answers": streamed,
    "tool calls": tools,
    "thinking shown": thinking,
    "reasoning tokens": reasoning,
    "cached input": cached_input,
    "cache writes": cache_writes,
    "cache writes kept an hour": cache_writes_of_an_hour,
    "image and audio tokens": images_and_sound,
    "counting tokens": counting,
    "list of models": models,
    "answer 400": failing(400),
    "answer 429": failing(429),
    "answer 500": failing(500),
    "answer 529": failing(529),
    "unknown key 401": unknown_key,
    "refusal is final": refusal,
    "malformed answers blamed": malformed,
    "cut stream estimated": cut_stream,
    "empty figures estimated": empty_figures,
    "bytes unchanged, any chunks": unchanged,
    "client leaves, answer ends": leaving,
    "our key, not the agent's": provider_key,
    "usage cannot be left out": all_of_usage,
}


def table() -> dict[tuple[str, str], str]:
    """The cells of the page's table by feature and format."""
    rows = [
        [cell.strip() for cell in line.strip("|\n").split("|")]
        for line in PAGE.read_text("utf-8").splitlines()
        if line.startswith("|")
    ]
    at = next(number for number, row in enumerate(rows) if row[0] == "feature")
    names = [name.strip("`") for name in rows[at][1:]]
    cells = {}
    for feature, *marks in rows[at + 2 :]:
        if len(marks) != len(names):
            break
        cells.update({(feature, name): mark for name, mark in zip(names, marks, strict=True)})
    return cells


TABLE = table()
HOUR = KeyError, r"^'cache_write_1h'$"
DENIED: dict[tuple[str, str], tuple[type[Exception], str]] = {
    ("reasoning tokens", "anthropic-messages"): (AssertionError, r"^assert None == 30\n"),
    ("cache writes", "gemini"): (AssertionError, r"^assert \(130, 0\) == \(130, 10\)\n"),
    ("cache writes kept an hour", "openai-chat"): HOUR,
    ("cache writes kept an hour", "openai-responses"): HOUR,
    ("cache writes kept an hour", "gemini"): HOUR,
    ("image and audio tokens", "anthropic-messages"): (KeyError, r"^'input_audio'$"),
    ("counting tokens", "openai-chat"): (FailedError, r"^Error code: 404$"),
}
"""How each cell that the table denies fails: for the reason that it is denied for."""


def test_the_table_has_every_format_and_every_feature() -> None:
    assert {name for _, name in TABLE} == set(SAMPLES)
    assert {feature for feature, _ in TABLE} == set(FEATURES)
    assert set(TABLE.values()) <= {"yes", "–"}
    assert {cell for cell, mark in TABLE.items() if mark == "–"} == set(DENIED)


@pytest.mark.parametrize(
    ("feature", "format_name"),
    [pytest.param(*cell, id="-".join(cell)) for cell, mark in TABLE.items() if mark == "yes"],
)
async def test_what_the_table_claims_holds(feature: str, format_name: str, bench: Bench) -> None:
    await FEATURES[feature](bench)


@pytest.mark.parametrize(
    ("feature", "format_name", "error", "text"),
    [pytest.param(*cell, *how, id="-".join(cell)) for cell, how in DENIED.items()],
)
async def test_what_the_table_denies_is_not_there(
    feature: str, format_name: str, error: type[Exception], text: str, bench: Bench
) -> None:
    with pytest.raises(error, match=text):
        await FEATURES[feature](bench)


def test_prices_of_these_tests_are_known() -> None:
    assert prices().cost_usd(Usage(1_000_000), MODEL) == Decimal(1)
