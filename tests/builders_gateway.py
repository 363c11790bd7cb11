"""Builders for tests of the gateway: scripts, accounts, ledgers, answers of providers."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from proctor.api.evaltrial import TrialLimits
from proctor.gateway.account import Account
from proctor.gateway.journal import MemoryJournal
from proctor.gateway.ledger import Ask, Ledger
from proctor.pricing import Prices, Rate
from proctor.wire.script_text import parse_script

MORNING = datetime(2026, 1, 31, 9, 0, tzinfo=UTC)
MODEL = "model-1"
"""Costs 1 US dollar for a million input tokens, 10 for a million output tokens."""

HELLO = """
rules:
  - when: {turn: 1}
    answer:
      text: "Grüße, I write the file."
      tools: [{name: write, input: {path: a.py, content: "print('ä')"}}]
      usage: {input: 1200, output: 80}
  - answer: {text: Done., usage: {input: 2000, output: 10}}
"""

A_MESSAGE = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": MODEL,
    "content": [{"type": "text", "text": "Grüße"}],
    "stop_reason": "end_turn",
    "stop_sequence": None,
    "usage": {"input_tokens": 100, "output_tokens": 20},
}
A_COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": MODEL,
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "Grüße"},
            "logprobs": None,
            "finish_reason": "stop",
        }
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
}


def prices() -> Prices:
    return Prices.of({MODEL: Rate.plain(Decimal(1), Decimal(10), "made up for tests, 2026-01-31")})


def a_ledger(**changes: Any) -> Ledger:
    fields: dict[str, Any] = {
        "journal": MemoryJournal(),
        "prices": prices(),
        "now": lambda: MORNING,
        "since": MORNING,
    }
    return Ledger(**{**fields, **changes})


def an_ask(model: str = MODEL, **fields: Any) -> Ask:
    return Ask(model, "p", "openai-chat", **fields)


def an_account(script: str | None = None, **limits: Any) -> Account:
    return Account(
        trial_uid="trial-1",
        attempt=1,
        limits=TrialLimits(**limits),
        mode="Live" if script is None else "Scripted",
        script=None if script is None else parse_script(script),
    )


def body(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def sse(events: Sequence[dict[str, Any] | str]) -> bytes:
    """Events as a provider writes them; a string stands for itself."""
    return b"".join(_event(event) for event in events)


def _event(event: dict[str, Any] | str) -> bytes:
    if isinstance(event, str):
        return f"data: {event}\n\n".encode()
    name = f"event: {event['type']}\n" if "type" in event else ""
    return f"{name}data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


MESSAGE_EVENTS: list[dict[str, Any]] = [
    {
        "type": "message_start",
        "message": {
            **A_MESSAGE,
            "content": [],
            "stop_reason": None,
            "usage": {"input_tokens": 100, "cache_read_input_tokens": 7, "output_tokens": 1},
        },
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {
        "type": "content_block_delta",
        "index": 0,
        "delta": {"type": "text_delta", "text": "Grüße 🎈"},
    },
    {"type": "content_block_stop", "index": 0},
    {
        "type": "message_delta",
        "delta": {"stop_reason": "end_turn", "stop_sequence": None},
        "usage": {"output_tokens": 20},
    },
    {"type": "message_stop"},
]


def a_chunk(delta: dict[str, Any], finish: str | None = None, **fields: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
    head = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": MODEL}
    return {**head, "choices": [choice], **fields}


USAGE_CHUNK = {
    **a_chunk({}),
    "choices": [],
    "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
}
COMPLETION_CHUNKS: list[dict[str, Any] | str] = [
    a_chunk({"role": "assistant", "content": ""}),
    a_chunk({"content": "Grüße 🎈"}),
    a_chunk({}, "stop"),
    USAGE_CHUNK,
    "[DONE]",
]
