"""Live mode against a provider on loopback: what goes out, what comes back, what is booked."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import openai
import pytest
import pytest_asyncio

from builders_gateway import (
    A_COMPLETION,
    A_MESSAGE,
    COMPLETION_CHUNKS,
    MESSAGE_EVENTS,
    MODEL,
    USAGE_CHUNK,
    an_account,
    prices,
    sse,
)
from fakes.provider import FakeProvider, Reply, json_reply, running_provider, stream_reply
from proctor.api.usage import Bill, Usage
from proctor.gateway.embed import LocalGateway
from proctor.gateway.events import CallEnded
from proctor.gateway.ledger import OpenCall
from proctor.gateway.providers import FileKey, FixedKey, Provider
from proctor.gateway.retries import Retries
from proctor.gateway.watch import NoWatch
from proctor.wire.formats import ANTHROPIC_MESSAGES, OPENAI_CHAT

KEY = "sk-provider-secret"
QUESTION: Any = [{"role": "user", "content": "Grüße?"}]


class Calls(NoWatch):
    """Knows when no call is under way."""

    def __init__(self) -> None:
        self._open = 0
        self.over = asyncio.Event()

    def started(self, call: OpenCall) -> None:
        self._open += 1
        self.over.clear()

    def ended(self, call: OpenCall, ended: CallEnded) -> None:
        self._open -= 1
        if not self._open:
            self.over.set()


class Bench:
    """A gateway in front of a fake provider, and a plain client with the agent's key."""

    def __init__(
        self,
        provider: FakeProvider,
        gateway: LocalGateway,
        client: aiohttp.ClientSession,
        calls: Calls,
    ) -> None:
        self.provider, self.gateway, self._client = provider, gateway, client
        self.calls = calls
        self.key = gateway.admit(an_account()).agent

    def limit(self, **limits: Any) -> None:
        self.key = self.gateway.admit(an_account(**limits)).agent

    def post(self, path: str, *, follow: bool = True, **fields: Any) -> Any:
        return self._client.post(
            f"{self.gateway.url}{path}",
            json={"model": MODEL, "messages": QUESTION, **fields},
            headers={"authorization": f"Bearer {self.key}"},
            allow_redirects=follow,
        )

    async def messages(self, **fields: Any) -> tuple[int, bytes]:
        async with self.post("/v1/messages", **fields) as response:
            return response.status, await response.read()

    async def chat(self, **fields: Any) -> tuple[int, bytes]:
        async with self.post("/v1/chat/completions", **fields) as response:
            return response.status, await response.read()

    @property
    def bill(self) -> Bill:
        return self.gateway.bill("trial-1", 1)

    async def settled(self) -> Bill:
        """The bill when no call is open any more."""
        await asyncio.wait_for(self.calls.over.wait(), 5)
        return self.bill


@pytest_asyncio.fixture
async def bench() -> AsyncIterator[Bench]:
    async with running_provider() as provider, aiohttp.ClientSession() as client:
        providers = (
            Provider("anthropic", (ANTHROPIC_MESSAGES,), provider.url, FixedKey(KEY), (MODEL,)),
            Provider("openai", (OPENAI_CHAT,), f"{provider.url}/v1", FixedKey(KEY), (MODEL,)),
        )
        retries, calls = Retries(attempts=2, base_seconds=0), Calls()
        async with LocalGateway(
            providers, prices=prices(), retries=retries, watch=calls
        ) as gateway:
            yield Bench(provider, gateway, client, calls)


async def test_bytes_pass_through_unchanged_in_both_directions(bench: Bench) -> None:
    answer = b'{ "usage": {"input_tokens": 100, "output_tokens":20},\n "odd":  "\xc3\xbc" }'
    bench.provider.replies = [Reply(200, [answer], {"content-type": "application/json"})]
    status, received = await bench.messages(extra={"a": [1.0, None]})
    assert (status, received) == (200, answer)
    assert json.loads(bench.provider.asked[0].body)["extra"] == {"a": [1.0, None]}


async def test_the_agents_key_is_replaced_and_its_hop_headers_stay_here(bench: Bench) -> None:
    bench.provider.replies = [json_reply(A_MESSAGE)]
    async with anthropic.AsyncAnthropic(base_url=bench.gateway.url, api_key=bench.key) as client:
        await client.messages.create(
            model=MODEL,
            max_tokens=9,
            messages=QUESTION,
            extra_headers={"anthropic-beta": "x", "cookie": "c=1", "x-forwarded-for": "10.0.0.1"},
            extra_query={"beta": "true"},
        )
    (asked,) = bench.provider.asked
    assert asked.path == "/v1/messages?beta=true"
    assert asked.headers["x-api-key"] == KEY
    assert asked.headers["anthropic-beta"] == "x"
    assert asked.headers["anthropic-version"]
    assert asked.headers["accept-encoding"] == "identity"
    assert not {"authorization", "cookie", "x-forwarded-for"} & asked.headers.keys()
    assert bench.key not in str(asked)


async def test_openais_sdk_is_served_with_our_key(bench: Bench) -> None:
    bench.provider.replies = [json_reply(A_COMPLETION)]
    url = f"{bench.gateway.url}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key=bench.key) as client:
        completion = await client.chat.completions.create(model=MODEL, messages=QUESTION)
    assert completion.choices[0].message.content == "Grüße"
    (asked,) = bench.provider.asked
    assert (asked.path, asked.headers["authorization"]) == (
        "/v1/chat/completions",
        f"Bearer {KEY}",
    )


async def test_a_call_is_billed_by_the_providers_figures(bench: Bench) -> None:
    bench.provider.replies = [json_reply(A_MESSAGE)]
    await bench.messages()
    # (100 × 1 + 20 × 10) millionths
    assert await bench.settled() == Bill(1, Usage(100, 20), Decimal("0.0003"), cost_complete=True)


async def test_chunks_are_forwarded_as_they_come(bench: Bench) -> None:
    first = sse(MESSAGE_EVENTS[:2])
    bench.provider.replies = [stream_reply(first, hold=True)]
    async with bench.post("/v1/messages", stream=True) as response:
        assert await response.content.readexactly(len(first)) == first
        assert not bench.provider.gone.is_set()


async def test_a_client_that_goes_away_ends_the_providers_answer(bench: Bench) -> None:
    bench.provider.replies = [stream_reply(sse(MESSAGE_EVENTS[:2]), hold=True)]
    async with bench.post("/v1/messages", stream=True) as response:
        await response.content.readany()
        response.close()
    await asyncio.wait_for(bench.provider.gone.wait(), 5)
    bill = await bench.settled()
    assert (bill.calls, bill.usage.input, bill.cost_complete) == (1, 100, False)
    assert bill.provider_error is None


async def test_a_client_that_goes_away_before_an_answer_ends_the_call(bench: Bench) -> None:
    bench.provider.replies = [stream_reply(hold=True)]
    calling = asyncio.ensure_future(bench.messages(stream=True))
    await asyncio.wait_for(bench.provider.reached.wait(), 5)
    calling.cancel()
    await asyncio.wait_for(bench.provider.gone.wait(), 5)
    bill = await bench.settled()
    assert (bill.calls, bill.cost_complete) == (1, False)


@pytest.mark.parametrize("cut", [pytest.param(30, id="in-an-event"), pytest.param(300, id="later")])
async def test_anthropics_sdk_streams_over_odd_chunk_boundaries(bench: Bench, cut: int) -> None:
    stream = sse(MESSAGE_EVENTS)
    umlaut = stream.index("ü".encode()) + 1
    parts = [stream[:cut], stream[cut:umlaut], stream[umlaut : umlaut + 1], stream[umlaut + 1 :]]
    bench.provider.replies = [stream_reply(*parts if cut < umlaut else (stream,))]
    async with (
        anthropic.AsyncAnthropic(base_url=bench.gateway.url, api_key=bench.key) as client,
        client.messages.stream(model=MODEL, max_tokens=9, messages=QUESTION) as running,
    ):
        message = await running.get_final_message()
    assert message.content[0].type == "text"
    assert message.content[0].text == "Grüße 🎈"
    bill = await bench.settled()
    assert (bill.usage, bill.cost_complete) == (Usage(100, 20, cache_read=7), True)


async def test_a_chat_stream_is_measured_though_its_client_did_not_ask(bench: Bench) -> None:
    bench.provider.replies = [stream_reply(sse(COMPLETION_CHUNKS))]
    status, received = await bench.chat(stream=True)
    shown = [chunk for chunk in COMPLETION_CHUNKS if chunk is not USAGE_CHUNK]
    assert (status, received) == (200, sse(shown))
    sent = json.loads(bench.provider.asked[0].body)
    assert sent["stream_options"] == {"include_usage": True}
    assert (await bench.settled()).usage == Usage(100, 20)


async def test_a_stream_that_the_provider_cuts_is_cut_for_the_client_too(bench: Bench) -> None:
    bench.provider.replies = [stream_reply(sse(COMPLETION_CHUNKS[:2]), cut=True)]
    with pytest.raises(aiohttp.ClientPayloadError):
        await bench.chat(stream=True, stream_options={"include_usage": True})
    bill = await bench.settled()
    assert (bill.calls, bill.cost_complete) == (1, False)
    assert "broke off" in str(bill.provider_error)


async def test_an_error_event_in_a_stream_is_the_providers(bench: Bench) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    bench.provider.replies = [stream_reply(sse([*MESSAGE_EVENTS[:2], error]))]
    await bench.messages(stream=True)
    assert (await bench.settled()).provider_error == "overloaded_error: busy"


@pytest.mark.parametrize("status", [pytest.param(s, id=str(s)) for s in (429, 500, 529)])
async def test_a_provider_that_fails_is_asked_again(bench: Bench, status: int) -> None:
    bench.provider.replies = [json_reply({}, status, **{"retry-after": "0"}), json_reply(A_MESSAGE)]
    assert (await bench.messages())[0] == 200
    bill = await bench.settled()
    assert (len(bench.provider.asked), bill.calls, bill.provider_error) == (2, 1, None)


async def test_a_provider_that_goes_on_failing_is_passed_through_and_blamed(bench: Bench) -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    bench.provider.replies = [json_reply(error, 529, **{"x-kept": "yes"})]
    async with bench.post("/v1/messages") as response:
        assert (response.status, response.headers["x-kept"]) == (529, "yes")
        assert await response.json() == error
    bill = await bench.settled()
    assert (len(bench.provider.asked), bill.calls) == (3, 0)
    assert bill.provider_error == "provider 'anthropic' answered 529: overloaded_error: busy"


async def test_a_provider_that_wants_a_long_wait_is_not_asked_again(bench: Bench) -> None:
    bench.provider.replies = [json_reply({}, 429, **{"retry-after": "3600"})]
    assert (await bench.messages())[0] == 429
    assert len(bench.provider.asked) == 1


async def test_a_request_that_the_provider_refuses_is_the_agents(bench: Bench) -> None:
    bench.provider.replies = [json_reply({"error": {"message": "bad"}}, 400)]
    status, received = await bench.chat()
    assert (status, json.loads(received)) == (400, {"error": {"message": "bad"}})
    bill = await bench.settled()
    assert (bill.calls, bill.provider_error, bill.cost_complete) == (1, None, True)


@pytest.mark.parametrize("status", [pytest.param(s, id=str(s)) for s in (400, 401, 403)])
async def test_an_error_never_shows_our_key(bench: Bench, status: int) -> None:
    echo = {"error": {"message": f"Incorrect API key provided: {KEY}"}}
    bench.provider.replies = [json_reply(echo, status)]
    received = await bench.chat()
    assert received[0] == status
    assert KEY.encode() not in received[1]
    assert KEY not in str(await bench.settled())


async def test_a_refused_key_of_ours_is_not_the_agents_fault(bench: Bench) -> None:
    bench.provider.replies = [json_reply({"error": {"message": "no"}}, 401)]
    await bench.chat()
    assert "refused the gateway's own key" in str((await bench.settled()).provider_error)


async def test_a_provider_that_is_not_there_is_a_bad_gateway(bench: Bench) -> None:
    nowhere = Provider("gone", (OPENAI_CHAT,), "http://127.0.0.1:1", FixedKey(KEY))
    retries = Retries(attempts=1, base_seconds=0)
    async with LocalGateway([nowhere], retries=retries, watch=bench.calls) as gateway:
        bench.gateway, bench.key = gateway, gateway.admit(an_account()).agent
        status, received = await bench.chat()
        assert status == 502
        assert "did not answer" in json.loads(received)["error"]["message"]
        bill = await bench.settled()
    assert (bill.calls, bill.cost_complete) == (0, True)
    assert "'gone' did not answer" in str(bill.provider_error)


async def test_a_redirect_is_not_followed_with_our_key(bench: Bench) -> None:
    async with running_provider() as elsewhere:
        bench.provider.replies = [Reply(307, [], {"location": elsewhere.url})]
        async with bench.post("/v1/messages", follow=False) as response:
            assert response.status == 307
        assert elsewhere.asked == []


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        pytest.param({"max_total_tokens": 120}, "maxTotalTokens", id="tokens"),
        pytest.param({"max_usd": Decimal("0.0003")}, "maxUsd", id="money"),
        pytest.param({"max_model_calls": 1}, "maxModelCalls", id="calls"),
    ],
)
async def test_a_reached_limit_keeps_the_next_call_here(
    bench: Bench, limits: dict[str, Any], limit: str
) -> None:
    bench.limit(**limits)
    bench.provider.replies = [json_reply(A_MESSAGE)]
    await bench.messages()
    await bench.settled()
    async with bench.post("/v1/messages") as response:
        assert (response.status, response.headers["x-should-retry"]) == (402, "false")
        assert "refused by Proctor" in (await response.json())["error"]["message"]
    assert (len(bench.provider.asked), bench.bill.refused) == (1, limit)


async def test_calls_in_flight_are_counted_before_they_end(bench: Bench) -> None:
    bench.limit(max_model_calls=1)
    bench.provider.replies = [stream_reply(sse(MESSAGE_EVENTS[:1]), hold=True)]
    async with bench.post("/v1/messages", stream=True) as response:
        await response.content.readany()
        assert (await bench.messages())[0] == 402


async def test_a_model_that_nobody_serves_is_told_so(bench: Bench) -> None:
    status, received = await bench.chat(model="other")
    assert (status, len(bench.provider.asked)) == (404, 0)
    assert "no provider serves model 'other'" in json.loads(received)["error"]["message"]


async def test_a_body_that_is_no_request_is_told_so(bench: Bench) -> None:
    status, received = await bench.messages(messages="hi")
    assert (status, json.loads(received)["error"]["message"]) == (
        400,
        "messages: a list is required",
    )


async def test_lists_of_models_come_from_the_provider_and_count_for_nothing(bench: Bench) -> None:
    bench.provider.replies = [json_reply({"object": "list", "data": []})]
    url = f"{bench.gateway.url}/v1"
    async with openai.AsyncOpenAI(base_url=url, api_key=bench.key) as client:
        assert [model async for model in client.models.list()] == []
    assert (bench.provider.asked[0].path, bench.bill.calls) == ("/v1/models", 0)


async def test_a_stream_is_billed_before_its_client_can_know_that_it_is_over(bench: Bench) -> None:
    """Some clients stop at the last event: their next call must meet the limits as they are."""
    bench.limit(max_total_tokens=127)
    bench.provider.replies = [stream_reply(sse(MESSAGE_EVENTS), hold=True)]
    async with bench.post("/v1/messages", stream=True) as response:
        await response.content.readuntil(b"message_stop")
        assert (await bench.messages())[0] == 402
    assert bench.bill.refused == "maxTotalTokens"


async def test_a_key_file_that_is_missing_is_not_the_agents_fault(
    bench: Bench, tmp_path: Path
) -> None:
    provider = Provider("lost", (OPENAI_CHAT,), bench.provider.url, FileKey(tmp_path / "key"))
    async with LocalGateway([provider], watch=bench.calls) as gateway:
        bench.gateway, bench.key = gateway, gateway.admit(an_account()).agent
        assert (await bench.chat())[0] == 503
        bill = await bench.settled()
    assert (bill.calls, bill.cost_complete) == (0, True)
    assert "key file" in str(bill.provider_error)


async def test_the_trials_own_model_without_a_provider_is_no_zero_of_the_agent(
    bench: Bench,
) -> None:
    # Every trial scored 0 for a model that nobody had configured.
    bench.key = bench.gateway.admit(replace(an_account(), model="other")).agent
    status, _ = await bench.chat(model="other")
    bill = await bench.settled()
    assert status == 404
    assert bill.provider_error == "no provider serves model 'other' by openai-chat"
    assert (bill.cost_usd, bill.cost_complete) == (0, True)
