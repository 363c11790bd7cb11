"""The official SDKs, each behind the same few methods, against a gateway."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import anthropic
import openai
from google import genai
from google.genai import errors, types

from builders_gateway import MODEL


@dataclass(frozen=True)
class Said:
    """What an SDK made of an answer.

    Args:
        tools: Name and input of each call.
        figures: All input and all output tokens, cached input, reasoning; None: the SDK shows none.
    """

    text: str
    thinking: str = ""
    tools: tuple[tuple[str, Any], ...] = ()
    heard: int = 0
    output: int = 0
    cached: int = 0
    reasoning: int | None = None


class FailedError(Exception):
    """What an SDK raised for an answer of this status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Client(Protocol):
    async def ask(self, text: str = "hi") -> Said: ...
    async def stream(self, text: str = "hi") -> Said: ...
    async def models(self) -> list[str]: ...
    async def count(self, text: str) -> int: ...


class Anthropic:
    def __init__(self, sdk: anthropic.AsyncAnthropic) -> None:
        self._sdk = sdk

    def _asked(self, text: str) -> Any:
        return {"model": MODEL, "max_tokens": 99, "messages": [{"role": "user", "content": text}]}

    async def ask(self, text: str = "hi") -> Said:
        return self._said(await self._sdk.messages.create(**self._asked(text)))

    async def stream(self, text: str = "hi") -> Said:
        async with self._sdk.messages.stream(**self._asked(text)) as stream:
            return self._said(await stream.get_final_message())

    def _said(self, message: anthropic.types.Message) -> Said:
        usage = message.usage
        return Said(
            text="".join(b.text for b in message.content if b.type == "text"),
            thinking="".join(b.thinking for b in message.content if b.type == "thinking"),
            tools=tuple((b.name, b.input) for b in message.content if b.type == "tool_use"),
            heard=usage.input_tokens
            + (usage.cache_read_input_tokens or 0)
            + (usage.cache_creation_input_tokens or 0),
            output=usage.output_tokens,
            cached=usage.cache_read_input_tokens or 0,
        )

    async def models(self) -> list[str]:
        return [model.id async for model in self._sdk.models.list()]

    async def count(self, text: str) -> int:
        messages: Any = [{"role": "user", "content": text}]
        counted = await self._sdk.messages.count_tokens(model=MODEL, messages=messages)
        return counted.input_tokens


class OpenAIChat:
    def __init__(self, sdk: openai.AsyncOpenAI) -> None:
        self._sdk = sdk

    def _asked(self, text: str) -> Any:
        return {"model": MODEL, "messages": [{"role": "user", "content": text}]}

    async def ask(self, text: str = "hi") -> Said:
        completion = await self._sdk.chat.completions.create(**self._asked(text))
        message = completion.choices[0].message
        calls: Any = message.tool_calls or ()
        return self._said(
            message.content or "",
            getattr(message, "reasoning_content", ""),
            [(call.function.name, call.function.arguments) for call in calls],
            completion.usage,
        )

    async def stream(self, text: str = "hi") -> Said:
        said, thought, usage = "", "", None
        calls: list[list[str]] = []
        stream = await self._sdk.chat.completions.create(
            **self._asked(text), stream=True, stream_options={"include_usage": True}
        )
        async for chunk in stream:
            usage = chunk.usage or usage
            for choice in chunk.choices:
                said += choice.delta.content or ""
                thought += getattr(choice.delta, "reasoning_content", "") or ""
                for call in choice.delta.tool_calls or ():
                    if call.function.name:
                        calls.append([call.function.name, ""])
                    calls[-1][1] += call.function.arguments or ""
        return self._said(said, thought, calls, usage)

    def _said(self, text: str, thinking: str, calls: Any, usage: Any) -> Said:
        return Said(
            text=text,
            thinking=thinking,
            tools=_parsed(calls),
            heard=usage.prompt_tokens,
            output=usage.completion_tokens,
            cached=_part(usage.prompt_tokens_details, "cached_tokens"),
            reasoning=_part(usage.completion_tokens_details, "reasoning_tokens"),
        )

    async def models(self) -> list[str]:
        return [model.id async for model in self._sdk.models.list()]

    async def count(self, text: str) -> int:
        """The SDK has no method for it: the API has no such place."""
        counted: Any = await self._sdk.post(
            "/chat/completions/input_tokens", body=self._asked(text), cast_to=object
        )
        return int(counted["input_tokens"])


class OpenAIResponses(OpenAIChat):
    async def ask(self, text: str = "hi") -> Said:
        return self._of(await self._sdk.responses.create(model=MODEL, input=text))

    async def stream(self, text: str = "hi") -> Said:
        async with self._sdk.responses.stream(model=MODEL, input=text) as stream:
            return self._of(await stream.get_final_response())

    def _of(self, response: Any) -> Said:
        kinds: Mapping[str, list[Any]] = {
            kind: [item for item in response.output if item.type == kind]
            for kind in ("reasoning", "function_call")
        }
        usage = response.usage
        return Said(
            text=response.output_text,
            thinking="".join(p.text for item in kinds["reasoning"] for p in item.summary),
            tools=_parsed([(c.name, c.arguments) for c in kinds["function_call"]]),
            heard=usage.input_tokens,
            output=usage.output_tokens,
            cached=usage.input_tokens_details.cached_tokens,
            reasoning=usage.output_tokens_details.reasoning_tokens,
        )

    async def count(self, text: str) -> int:
        counted = await self._sdk.responses.input_tokens.count(model=MODEL, input=text)
        return counted.input_tokens


class Gemini:
    def __init__(self, sdk: Any) -> None:
        self._sdk = sdk

    async def ask(self, text: str = "hi") -> Said:
        answer = await self._sdk.models.generate_content(model=MODEL, contents=text)
        return self._said([answer])

    async def stream(self, text: str = "hi") -> Said:
        pieces = await self._sdk.models.generate_content_stream(model=MODEL, contents=text)
        return self._said([piece async for piece in pieces])

    def _said(self, pieces: list[types.GenerateContentResponse]) -> Said:
        candidates: Any = [c for piece in pieces for c in piece.candidates or ()]
        parts = [part for candidate in candidates for part in candidate.content.parts or ()]
        usage: Any = pieces[-1].usage_metadata
        calls = [part.function_call for part in parts if part.function_call]
        thought = usage.thoughts_token_count or 0
        return Said(
            text="".join(part.text for part in parts if part.text and not part.thought),
            thinking="".join(part.text for part in parts if part.text and part.thought),
            tools=tuple((call.name, call.args) for call in calls),
            heard=usage.prompt_token_count or 0,
            output=(usage.candidates_token_count or 0) + thought,
            cached=usage.cached_content_token_count or 0,
            reasoning=thought,
        )

    async def models(self) -> list[str]:
        pager = await self._sdk.models.list()
        return [str(model.name).removeprefix("models/") async for model in pager]

    async def count(self, text: str) -> int:
        counted = await self._sdk.models.count_tokens(model=MODEL, contents=text)
        return int(counted.total_tokens)


def _parsed(calls: Any) -> tuple[tuple[str, Any], ...]:
    import json

    return tuple((name, json.loads(arguments)) for name, arguments in calls)


def _part(details: Any, name: str) -> int:
    return getattr(details, name, 0) or 0


@asynccontextmanager
async def _anthropic(url: str, key: str, retries: int) -> AsyncIterator[Client]:
    async with anthropic.AsyncAnthropic(base_url=url, api_key=key, max_retries=retries) as sdk:
        try:
            yield Anthropic(sdk)
        except anthropic.APIStatusError as error:
            raise FailedError(error.status_code, error.message) from error


@asynccontextmanager
async def _openai(
    url: str, key: str, retries: int, kind: Callable[[openai.AsyncOpenAI], Client]
) -> AsyncIterator[Client]:
    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key=key, max_retries=retries) as sdk:
        try:
            yield kind(sdk)
        except openai.APIStatusError as error:
            raise FailedError(error.status_code, error.message) from error


@asynccontextmanager
async def _google(url: str, key: str, retries: int) -> AsyncIterator[Client]:
    retrying = types.HttpRetryOptions(
        attempts=retries + 1, initial_delay=0.01, max_delay=0.01, jitter=0
    )
    options = types.HttpOptions(base_url=url, retry_options=retrying)
    sdk = genai.Client(api_key=key, http_options=options, vertexai=False)
    try:
        async with sdk.aio as running:
            yield Gemini(running)
    except errors.APIError as error:
        raise FailedError(error.code, str(error.message)) from error


def client(
    name: str, url: str, key: str, *, retries: int = 0
) -> AbstractAsyncContextManager[Client]:
    """The SDK that speaks the format of this name."""
    match name:
        case "anthropic-messages":
            return _anthropic(url, key, retries)
        case "openai-chat":
            return _openai(url, key, retries, OpenAIChat)
        case "openai-responses":
            return _openai(url, key, retries, OpenAIResponses)
        case _:
            return _google(url, key, retries)
