"""What was recorded answers again, in the same way and without any provider."""

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import anthropic
import openai
import pytest
import pytest_asyncio

from builders_gateway import HELLO, MODEL, an_account, prices
from proctor.gateway.account import Account
from proctor.gateway.cassette_text import parse_cassette
from proctor.gateway.embed import LocalGateway
from proctor.gateway.providers import FixedKey, Provider
from proctor.gateway.record_file import Recorder
from proctor.gateway.replay_tape import Tape
from proctor.wire.formats import FORMATS

QUESTION: Any = [{"role": "user", "content": "Write a.py."}]
TRIAL = "hello/base/0"


@dataclass(frozen=True, slots=True)
class Recording:
    """A gateway that records what a scripted one answers, and how often that one was asked."""

    gateway: LocalGateway
    upstream: LocalGateway
    path: Path

    def key(self, uid: str = "trial-1", label: str = TRIAL) -> str:
        recorder = Recorder(self.path, "run-1")
        account = Account(uid, 1, mode="Record", recorder=recorder, label=label)
        return self.gateway.admit(account).agent

    def replaying(self, uid: str = "again-1", label: str = TRIAL) -> str:
        tape = Tape(parse_cassette(self.path.read_text("utf-8")))
        account = Account(uid, 1, mode="Replay", tape=tape, label=label)
        return self.gateway.admit(account).agent

    @property
    def calls_upstream(self) -> int:
        return self.upstream.bill("upstream", 1).calls


@pytest_asyncio.fixture
async def recording(tmp_path: Path) -> AsyncIterator[Recording]:
    async with LocalGateway(prices=prices()) as upstream:
        scripted = an_account(HELLO)
        key = upstream.admit(Account("upstream", 1, mode="Scripted", script=scripted.script)).agent
        provider = Provider(
            name="fake",
            wire_formats=tuple(FORMATS.values()),
            base_url=upstream.url,
            key=FixedKey(key),
        )
        openais = Provider(
            name="fake-openai",
            wire_formats=(FORMATS["openai-chat"], FORMATS["openai-responses"]),
            base_url=f"{upstream.url}/v1",
            key=FixedKey(key),
        )
        async with LocalGateway((openais, provider), prices=prices()) as gateway:
            yield Recording(gateway, upstream, tmp_path / "cassette.yaml")


def claude(recording: Recording, key: str) -> anthropic.AsyncAnthropic:
    return anthropic.AsyncAnthropic(base_url=recording.gateway.url, api_key=key, max_retries=3)


def gpt(recording: Recording, key: str) -> openai.AsyncOpenAI:
    url = f"{recording.gateway.url}/v1"
    return openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=3)


async def ask(client: anthropic.AsyncAnthropic, messages: Any = QUESTION) -> dict[str, Any]:
    message = await client.messages.create(model=MODEL, max_tokens=100, messages=messages)
    return message.model_dump(exclude_none=True)


async def stream(client: anthropic.AsyncAnthropic) -> tuple[int, dict[str, Any]]:
    """How many events came, and the message that they make."""
    async with client.messages.stream(model=MODEL, max_tokens=100, messages=QUESTION) as events:
        number = len([event async for event in events])
        message = await events.get_final_message()
    return number, message.model_dump(exclude_none=True)


async def test_a_replay_says_the_same_and_asks_nobody(recording: Recording) -> None:
    async with claude(recording, recording.key()) as client:
        recorded = await ask(client)
    asked = recording.calls_upstream
    async with claude(recording, recording.replaying()) as client:
        assert await ask(client) == recorded
    assert recording.calls_upstream == asked == 1


async def test_a_stream_is_replayed_as_a_stream(recording: Recording) -> None:
    async with claude(recording, recording.key()) as client:
        recorded = await stream(client)
    async with claude(recording, recording.replaying()) as client:
        assert await stream(client) == recorded


async def test_either_form_answers_the_other(recording: Recording) -> None:
    async with claude(recording, recording.key()) as client:
        _, recorded = await stream(client)
    async with claude(recording, recording.replaying()) as client:
        whole = await ask(client)
    assert whole["content"] == recorded["content"]
    assert whole["usage"]["output_tokens"] == 80


async def test_openais_clients_are_replayed_too(recording: Recording) -> None:
    async def both(key: str) -> tuple[list[str], str]:
        async with gpt(recording, key) as client:
            chunks = await client.chat.completions.create(
                model=MODEL, messages=QUESTION, stream=True
            )
            texts = [c.choices[0].delta.content or "" async for c in chunks if c.choices]
            response = await client.responses.create(model=MODEL, input="Write a.py.")
            return texts, response.output_text

    assert await both(recording.key()) == await both(recording.replaying())


async def test_replayed_money_is_shown_and_not_spent(recording: Recording) -> None:
    async with claude(recording, recording.key()) as client:
        await ask(client)
    async with claude(recording, recording.replaying()) as client:
        await ask(client)
    spent, shown = recording.gateway.bill("trial-1", 1), recording.gateway.bill("again-1", 1)
    assert (spent.mode, shown.mode) == ("Record", "Replay")
    assert spent.cost_usd == shown.cost_usd
    assert recording.gateway.spending("trial-1").cost_usd == spent.cost_usd
    assert recording.gateway.spending("again-1").cost_usd == 0
    assert recording.gateway.spending("again-1").scripted_cost_usd == shown.cost_usd


async def test_a_miss_is_final_and_says_nothing_of_the_cassette(recording: Recording) -> None:
    async with claude(recording, recording.key()) as client:
        await ask(client)
    other: Any = [{"role": "user", "content": "Write b.py."}]
    async with claude(recording, recording.replaying()) as client:
        with pytest.raises(anthropic.APIStatusError, match="not in the cassette") as caught:
            await ask(client, other)
    assert caught.value.status_code == 402
    assert "a.py" not in str(caught.value.body)
    (entry,) = recording.gateway.entries("again-1", 1)
    assert "was 'Write a.py.', is 'Write b.py.'" in entry["miss"]
    assert recording.calls_upstream == 1
    bill = recording.gateway.bill("again-1", 1)
    assert (bill.calls, bill.cost_usd) == (0, 0)
    assert "the cassette has no such call" in (bill.provider_error or "")


async def test_no_key_stands_in_a_cassette(recording: Recording) -> None:
    key = recording.key()
    said: Any = [{"role": "user", "content": f"My key is {key}."}]
    async with claude(recording, key) as client:
        await ask(client, said)
    assert key not in recording.path.read_text("utf-8")


async def test_an_agent_that_tells_its_key_is_replayed(recording: Recording) -> None:
    first = recording.key()
    async with claude(recording, first) as client:
        await ask(client, [{"role": "user", "content": f"My key is {first}."}])
    again = recording.replaying()
    async with claude(recording, again) as client:
        await ask(client, [{"role": "user", "content": f"My key is {again}."}])


async def test_a_list_of_models_is_replayed(recording: Recording) -> None:
    async with claude(recording, recording.key()) as client:
        await ask(client)
    async with gpt(recording, recording.replaying()) as client:
        models = [model.id async for model in client.models.list()]
    assert models == [MODEL]


async def test_counted_tokens_are_replayed(recording: Recording) -> None:
    async def count(key: str) -> int:
        async with claude(recording, key) as client:
            counted = await client.messages.count_tokens(model=MODEL, messages=QUESTION)
            return counted.input_tokens

    assert await count(recording.key()) == await count(recording.replaying())


async def test_failures_of_the_provider_are_not_recorded(tmp_path: Path) -> None:
    script = "rules: [{error: {status: 529, message: overloaded}}]"
    async with LocalGateway() as upstream:
        key = upstream.admit(an_account(script)).agent
        provider = Provider("fake", (FORMATS["anthropic-messages"],), upstream.url, FixedKey(key))
        async with LocalGateway((provider,)) as gateway:
            recorder = Recorder(tmp_path / "c.yaml", "run-1")
            own = gateway.admit(Account("t", 1, mode="Record", recorder=recorder)).agent
            body = {"model": MODEL, "max_tokens": 9, "messages": QUESTION}
            status = await post(f"{gateway.url}/v1/messages", own, body)
    assert status == 529
    recorder.arrange()
    assert parse_cassette(recorder.path.read_text("utf-8")).calls == ()


async def post(url: str, key: str, body: Mapping[str, Any]) -> int:
    async with (
        aiohttp.ClientSession() as session,
        session.post(url, json=body, headers={"x-api-key": key}) as answer,
    ):
        return answer.status


async def test_each_call_has_the_digests_of_what_was_said(recording: Recording) -> None:
    body = {"model": MODEL, "max_tokens": 9, "messages": QUESTION}
    await post(f"{recording.gateway.url}/v1/messages", recording.key(), body)
    (entry,) = recording.gateway.entries("trial-1", 1)
    assert len(entry["requestSha256"]) == len(entry["responseSha256"]) == 64
    assert entry["requestSha256"] != entry["responseSha256"]


async def test_repeats_hear_what_they_heard(recording: Recording) -> None:
    for repeat in range(3):
        async with claude(recording, recording.key(f"t{repeat}", f"hello/base/{repeat}")) as client:
            await ask(client)
    text = recording.path.read_text("utf-8")
    for repeat in range(3):
        text = text.replace("Grüße", f"Nr. {repeat}", 1)
    recording.path.write_text(text, "utf-8")
    tape = Tape(parse_cassette(text))
    heard = {}
    for repeat in (2, 0, 1):
        account = Account(f"r{repeat}", 1, mode="Replay", tape=tape, label=f"hello/base/{repeat}")
        async with claude(recording, recording.gateway.admit(account).agent) as client:
            heard[repeat] = json.dumps((await ask(client))["content"])
    assert all(f"Nr. {repeat}" in text for repeat, text in heard.items())
