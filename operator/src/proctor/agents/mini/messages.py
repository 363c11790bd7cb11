"""Anthropic Messages from the client's side. Standard library only.

Source: https://docs.anthropic.com/en/api/messages (2025-06).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.agents.mini.dialect import Message, Question, Reply, ReplyError, ToolCall, ToolResult
from proctor.api.usage import Usage


class MessagesDialect:
    """The dialect ``Messages``."""

    path = "/v1/messages"

    def headers(self, key: str) -> Mapping[str, str]:
        """The key as ``x-api-key``."""
        return {"x-api-key": key, "anthropic-version": "2023-06-01"}

    def body(self, question: Question) -> Mapping[str, Any]:
        """The request; system text stands beside the messages."""
        tools = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in question.tools
        ]
        return {
            "model": question.model,
            "max_tokens": question.max_output_tokens,
            "system": question.system,
            "messages": list(question.messages),
            **({"tools": tools} if tools else {}),
        }

    def reply(self, body: Mapping[str, Any]) -> Reply:
        """Read an answer; ``ReplyError`` when it is none."""
        blocks = body.get("content")
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise ReplyError("the answer has no list of content blocks")
        return Reply(
            message={"role": "assistant", "content": blocks},
            text=_joined(blocks, "text"),
            thinking=_joined(blocks, "thinking"),
            calls=tuple(_call(block) for block in blocks if block.get("type") == "tool_use"),
            stop_reason=body.get("stop_reason"),
            usage=_usage(body.get("usage")),
        )

    def user(self, text: str) -> Message:
        """A user message."""
        return {"role": "user", "content": text}

    def results(self, results: Sequence[ToolResult]) -> Sequence[Message]:
        """All results in one user message."""
        blocks = [
            {
                "type": "tool_result",
                "tool_use_id": result.call,
                "content": result.text,
                **({"is_error": True} if result.is_error else {}),
            }
            for result in results
        ]
        return ({"role": "user", "content": blocks},)


def _joined(blocks: Sequence[Mapping[str, Any]], kind: str) -> str:
    return "\n".join(str(block.get(kind, "")) for block in blocks if block.get("type") == kind)


def _call(block: Mapping[str, Any]) -> ToolCall:
    parameters = block.get("input")
    call, name = str(block.get("id", "")), str(block.get("name", ""))
    if not isinstance(parameters, dict):
        return ToolCall(call, name, {}, "input is not an object")
    return ToolCall(call, name, parameters)


def _usage(figures: Any) -> Usage | None:
    if not isinstance(figures, dict) or not {"input_tokens", "output_tokens"} & figures.keys():
        return None
    return Usage(
        input=int(figures.get("input_tokens") or 0),
        output=int(figures.get("output_tokens") or 0),
        cache_read=int(figures.get("cache_read_input_tokens") or 0),
        cache_write=int(figures.get("cache_creation_input_tokens") or 0),
    )
