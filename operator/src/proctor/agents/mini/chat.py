"""OpenAI Chat Completions from the client's side. Standard library only.

Source: https://platform.openai.com/docs/api-reference/chat (2025-06). ``prompt_tokens`` holds the
cached ones too.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from proctor.agents.mini.dialect import (
    Message,
    Question,
    Reply,
    ReplyError,
    ToolCall,
    ToolResult,
    ToolSpec,
)
from proctor.api.usage import Usage


class ChatDialect:
    """The dialect ``ChatCompletions``."""

    path = "/v1/chat/completions"

    def headers(self, key: str) -> Mapping[str, str]:
        """The key as bearer."""
        return {"authorization": f"Bearer {key}"}

    def body(self, question: Question) -> Mapping[str, Any]:
        """The request; system text is the first message."""
        tools = [_tool(tool) for tool in question.tools]
        return {
            "model": question.model,
            "max_completion_tokens": question.max_output_tokens,
            "messages": [{"role": "system", "content": question.system}, *question.messages],
            **({"tools": tools} if tools else {}),
        }

    def reply(self, body: Mapping[str, Any]) -> Reply:
        """Read an answer; ``ReplyError`` when it is none."""
        choices = body.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = choice.get("message") if isinstance(choice, dict) else None
        if not isinstance(choice, dict) or not isinstance(message, dict):
            raise ReplyError("the answer has no choice with a message")
        text = message.get("content") or ""
        calls = message.get("tool_calls") or []
        return Reply(
            message={
                "role": "assistant",
                "content": text,
                **({"tool_calls": calls} if calls else {}),
            },
            text=str(text),
            thinking=str(message.get("reasoning_content") or ""),
            calls=tuple(_call(call) for call in calls),
            stop_reason=choice.get("finish_reason"),
            usage=_usage(body.get("usage")),
        )

    def user(self, text: str) -> Message:
        """A user message."""
        return {"role": "user", "content": text}

    def results(self, results: Sequence[ToolResult]) -> Sequence[Message]:
        """One message of the role ``tool`` for each result; an error is part of its text."""
        return tuple(
            {
                "role": "tool",
                "tool_call_id": result.call,
                "content": f"Error: {result.text}" if result.is_error else result.text,
            }
            for result in results
        )


def _tool(tool: ToolSpec) -> Mapping[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.parameters,
        },
    }


def _call(call: Any) -> ToolCall:
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict):
        raise ReplyError("a tool call has no function")
    number, name = str(call.get("id", "")), str(function.get("name", ""))
    try:
        parameters = json.loads(function.get("arguments") or "{}")
    except (TypeError, ValueError, RecursionError) as error:
        return ToolCall(number, name, {}, f"arguments are not JSON: {error}")
    if not isinstance(parameters, dict):
        return ToolCall(number, name, {}, "arguments are not an object")
    return ToolCall(number, name, parameters)


def _usage(figures: Any) -> Usage | None:
    if not isinstance(figures, dict) or not {"prompt_tokens", "completion_tokens"} & figures.keys():
        return None
    details = figures.get("prompt_tokens_details")
    cached = int(details.get("cached_tokens") or 0) if isinstance(details, dict) else 0
    return Usage(
        input=max(int(figures.get("prompt_tokens") or 0) - cached, 0),
        output=int(figures.get("completion_tokens") or 0),
        cache_read=cached,
    )
