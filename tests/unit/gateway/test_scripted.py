"""The official SDKs against scripted answers."""

from collections.abc import AsyncIterator
from decimal import Decimal
from typing import Any

import anthropic
import openai
import pytest
import pytest_asyncio
from anthropic.types import Message

from builders_gateway import HELLO, MODEL, an_account, prices
from proctor.gateway.account import Account
from proctor.gateway.embed import LocalGateway

QUESTION: Any = [{"role": "user", "content": "Write a.py."}]


@pytest_asyncio.fixture
async def gateway() -> AsyncIterator[LocalGateway]:
    async with LocalGateway(prices=prices()) as running:
        yield running


def claude(gateway: LocalGateway, account: Account) -> anthropic.AsyncAnthropic:
    key = gateway.admit(account).agent
    return anthropic.AsyncAnthropic(base_url=gateway.url, api_key=key, max_retries=3)


def gpt(gateway: LocalGateway, account: Account) -> openai.AsyncOpenAI:
    key = gateway.admit(account).agent
    return openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=3)


async def ask(client: anthropic.AsyncAnthropic, messages: Any = QUESTION) -> Message:
    return await client.messages.create(model=MODEL, max_tokens=100, messages=messages)


async def test_anthropics_sdk_gets_text_tools_and_usage(gateway: LocalGateway) -> None:
    async with claude(gateway, an_account(HELLO)) as client:
        message = await ask(client)
    text, tool = message.content
    assert text.type == "text"
    assert text.text == "Grüße, I write the file."
    assert tool.type == "tool_use"
    assert (tool.name, tool.input) == ("write", {"path": "a.py", "content": "print('ä')"})
    assert (message.stop_reason, message.usage.input_tokens) == ("tool_use", 1200)


async def test_anthropics_sdk_streams_the_same_message(gateway: LocalGateway) -> None:
    async with claude(gateway, an_account(HELLO)) as client:
        whole = await ask(client)
        async with client.messages.stream(model=MODEL, max_tokens=100, messages=QUESTION) as stream:
            streamed = await stream.get_final_message()
    assert [b.model_dump(exclude_none=True) for b in streamed.content] == [
        b.model_dump(exclude_none=True) for b in whole.content
    ]
    assert streamed.usage.output_tokens == whole.usage.output_tokens == 80


async def test_openais_sdk_gets_text_tools_and_usage(gateway: LocalGateway) -> None:
    async with gpt(gateway, an_account(HELLO)) as client:
        completion = await client.chat.completions.create(model=MODEL, messages=QUESTION)
    (choice,) = completion.choices
    assert choice.message.content == "Grüße, I write the file."
    assert choice.message.tool_calls is not None
    (call,) = choice.message.tool_calls
    assert call.type == "function"
    assert (call.function.name, choice.finish_reason) == ("write", "tool_calls")
    assert completion.usage is not None
    assert completion.usage.prompt_tokens == 1200


async def test_openais_sdk_streams_without_usage_when_it_did_not_ask(gateway: LocalGateway) -> None:
    async with gpt(gateway, an_account(HELLO)) as client:
        stream = await client.chat.completions.create(model=MODEL, messages=QUESTION, stream=True)
        chunks = [chunk async for chunk in stream]
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text == "Grüße, I write the file."
    assert all(chunk.usage is None for chunk in chunks)
    assert gateway.bill("trial-1", 1).usage.total == 1280


async def test_openais_sdk_streams_usage_when_it_asks(gateway: LocalGateway) -> None:
    async with gpt(gateway, an_account(HELLO)) as client:
        stream = await client.chat.completions.create(
            model=MODEL, messages=QUESTION, stream=True, stream_options={"include_usage": True}
        )
        last = [chunk async for chunk in stream][-1]
    assert last.usage is not None
    assert last.usage.completion_tokens == 80


async def test_the_second_turn_gets_the_second_answer_and_both_are_billed(
    gateway: LocalGateway,
) -> None:
    async with claude(gateway, an_account(HELLO)) as client:
        first = await ask(client)
        result = {"type": "tool_result", "tool_use_id": first.content[1].id, "content": "ok"}  # type: ignore[union-attr]
        history = [
            *QUESTION,
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": [result]},
        ]
        second = await ask(client, history)
    assert second.stop_reason == "end_turn"
    bill = gateway.bill("trial-1", 1)
    # (1,200 + 2,000) × 1 + (80 + 10) × 10
    assert (bill.calls, bill.cost_usd, bill.mode) == (2, Decimal("0.0041"), "Scripted")


async def test_models_of_the_script_are_listed_in_both_shapes(gateway: LocalGateway) -> None:
    account = an_account("rules: [{when: {model: model-9}, answer: {text: x}}]")
    async with claude(gateway, account) as client:
        assert [model.id async for model in client.models.list()] == ["model-9"]
    async with gpt(gateway, account) as client2:
        assert [model.id async for model in client2.models.list()] == ["model-9"]


REFUSED = "refused by Proctor: 1 of 1 model calls are used"


async def test_a_refusal_by_budget_is_final_for_anthropics_sdk(gateway: LocalGateway) -> None:
    async with claude(gateway, an_account(HELLO, max_model_calls=1)) as client:
        await ask(client)
        with pytest.raises(anthropic.APIStatusError, match=REFUSED):
            await ask(client)
    bill = gateway.bill("trial-1", 1)
    assert (bill.calls, bill.refused) == (1, "maxModelCalls")


async def test_a_refusal_by_budget_is_final_for_openais_sdk(gateway: LocalGateway) -> None:
    async with gpt(gateway, an_account(HELLO, max_model_calls=1)) as client:
        await client.chat.completions.create(model=MODEL, messages=QUESTION)
        with pytest.raises(openai.BadRequestError, match=REFUSED):
            await client.chat.completions.create(model=MODEL, messages=QUESTION)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        pytest.param(400, anthropic.BadRequestError, id="400"),
        pytest.param(429, anthropic.RateLimitError, id="429"),
        pytest.param(500, anthropic.InternalServerError, id="500"),
        pytest.param(529, anthropic._exceptions.OverloadedError, id="529"),
    ],
)
async def test_scripted_errors_are_the_providers_own(
    gateway: LocalGateway, status: int, error: type[Exception]
) -> None:
    script = f"rules: [{{error: {{status: {status}, message: not now}}}}]"
    async with claude(gateway, an_account(script)) as client:
        with pytest.raises(error, match="not now"):
            await ask(client.with_options(max_retries=0))
    is_provider = status != 400
    assert (gateway.bill("trial-1", 1).provider_error is not None) is is_provider


async def test_a_request_that_no_rule_matches_is_told_so_once(gateway: LocalGateway) -> None:
    script = "rules: [{when: {turn: 7}, answer: {text: x}}]"
    async with claude(gateway, an_account(script)) as client:
        with pytest.raises(anthropic.BadRequestError, match=r"none of the script's 1 rules"):
            await ask(client)
    bill = gateway.bill("trial-1", 1)
    assert (bill.calls, bill.provider_error, bill.cost_complete) == (1, None, True)


async def test_an_unknown_key_is_refused_in_both_shapes(gateway: LocalGateway) -> None:
    async with anthropic.AsyncAnthropic(base_url=gateway.url, api_key="x") as client:
        with pytest.raises(anthropic.AuthenticationError, match="not one of a running trial"):
            await ask(client)
    async with openai.AsyncOpenAI(base_url=f"{gateway.url}/v1", api_key="x") as client2:
        with pytest.raises(openai.AuthenticationError, match="not one of a running trial"):
            await client2.chat.completions.create(model=MODEL, messages=QUESTION)


async def test_a_key_whose_trial_was_removed_is_unknown(gateway: LocalGateway) -> None:
    async with claude(gateway, an_account(HELLO)) as client:
        gateway.remove("trial-1")
        with pytest.raises(anthropic.AuthenticationError):
            await ask(client)
