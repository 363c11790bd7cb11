"""One conversation in each model API: what a client asks, what a provider answers."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from builders_gateway import (
    A_COMPLETION,
    A_MESSAGE,
    COMPLETION_CHUNKS,
    MESSAGE_EVENTS,
    MODEL,
    sse,
)
from proctor.api.usage import Usage
from proctor.wire.format import WireFormat
from proctor.wire.formats import ANTHROPIC_MESSAGES, GEMINI, OPENAI_CHAT, OPENAI_RESPONSES

TEXT = "Grüße 🎈"

A_RESPONSE: dict[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "status": "completed",
    "model": MODEL,
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "output": [
        {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "status": "completed",
            "content": [{"type": "output_text", "text": TEXT, "annotations": [], "logprobs": []}],
        }
    ],
    "parallel_tool_calls": True,
    "temperature": 1.0,
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "usage": {
        "input_tokens": 107,
        "input_tokens_details": {"cached_tokens": 7},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5},
        "total_tokens": 127,
    },
}
_AT = {"output_index": 0, "item_id": "msg_1", "content_index": 0}
_BEGUN = {**A_RESPONSE, "status": "in_progress", "output": [], "usage": None}
RESPONSE_EVENTS: list[dict[str, Any]] = [
    {"type": "response.created", "sequence_number": 0, "response": _BEGUN},
    {
        "type": "response.output_item.added",
        "sequence_number": 1,
        "output_index": 0,
        "item": {**A_RESPONSE["output"][0], "status": "in_progress", "content": []},
    },
    {
        "type": "response.content_part.added",
        "sequence_number": 2,
        **_AT,
        "part": {"type": "output_text", "text": "", "annotations": [], "logprobs": []},
    },
    {
        "type": "response.output_text.delta",
        "sequence_number": 3,
        **_AT,
        "delta": TEXT,
        "logprobs": [],
    },
    {
        "type": "response.output_item.done",
        "sequence_number": 4,
        "output_index": 0,
        "item": A_RESPONSE["output"][0],
    },
    {"type": "response.completed", "sequence_number": 5, "response": A_RESPONSE},
]


def a_candidate(text: str, finish: str | None = None) -> dict[str, Any]:
    content = {"role": "model", "parts": [{"text": text}]}
    return {"content": content, "index": 0, **({"finishReason": finish} if finish else {})}


GEMINI_FIGURES = {
    "promptTokenCount": 107,
    "cachedContentTokenCount": 7,
    "candidatesTokenCount": 15,
    "thoughtsTokenCount": 5,
    "totalTokenCount": 127,
    "promptTokensDetails": [
        {"modality": "TEXT", "tokenCount": 87},
        {"modality": "IMAGE", "tokenCount": 12},
        {"modality": "AUDIO", "tokenCount": 8},
    ],
    "cacheTokensDetails": [{"modality": "AUDIO", "tokenCount": 3}],
}
A_GENERATION: dict[str, Any] = {
    "candidates": [a_candidate(TEXT, "STOP")],
    "usageMetadata": GEMINI_FIGURES,
    "modelVersion": MODEL,
}
GENERATION_PIECES: list[dict[str, Any]] = [
    {"candidates": [a_candidate("Grüße ")], "usageMetadata": {"promptTokenCount": 107}},
    {"candidates": [a_candidate("🎈", "STOP")], "usageMetadata": GEMINI_FIGURES},
]


@dataclass(frozen=True)
class Sample:
    """An API with a question and an answer in it.

    Args:
        paths: Where the gateway serves it, whole and streamed.
        asked: A request, but for whether it is streamed.
        usage: What the answer used, as whole and as stream.
        error: Status and message to an error's body.
    """

    wire_format: WireFormat
    paths: tuple[str, str]
    asked: dict[str, Any]
    answer: bytes
    events: list[dict[str, Any]]
    usage: tuple[Usage, Usage]

    @property
    def stream(self) -> bytes:
        return sse(self.events)

    @property
    def target(self) -> Callable[[bool], str]:
        return lambda stream: self.paths[stream].rpartition("/")[2]

    def body(self, *, stream: bool = False, **fields: Any) -> dict[str, Any]:
        in_path = self.wire_format is GEMINI
        return {**self.asked, **({"stream": True} if stream and not in_path else {}), **fields}


def _dumped(body: dict[str, Any]) -> bytes:
    return json.dumps(body, ensure_ascii=False).encode()


_MESSAGES = {"model": MODEL, "messages": [{"role": "user", "content": "Grüße?"}]}
_BOTH = Usage(100, 20, cache_read=7)
SAMPLES = {
    sample.wire_format.name: sample
    for sample in (
        Sample(
            ANTHROPIC_MESSAGES,
            ("/v1/messages", "/v1/messages"),
            {**_MESSAGES, "max_tokens": 9},
            _dumped(A_MESSAGE),
            MESSAGE_EVENTS,
            (Usage(100, 20), _BOTH),
        ),
        Sample(
            OPENAI_CHAT,
            ("/v1/chat/completions", "/v1/chat/completions"),
            {**_MESSAGES, "stream_options": {"include_usage": True}},
            _dumped(A_COMPLETION),
            COMPLETION_CHUNKS,
            (Usage(100, 20), Usage(100, 20)),
        ),
        Sample(
            OPENAI_RESPONSES,
            ("/v1/responses", "/v1/responses"),
            {"model": MODEL, "input": "Grüße?"},
            _dumped(A_RESPONSE),
            RESPONSE_EVENTS,
            (_BOTH, _BOTH),
        ),
        Sample(
            GEMINI,
            (
                f"/v1beta/models/{MODEL}:generateContent",
                f"/v1beta/models/{MODEL}:streamGenerateContent?alt=sse",
            ),
            {"contents": [{"role": "user", "parts": [{"text": "Grüße?"}]}]},
            _dumped(A_GENERATION),
            GENERATION_PIECES,
            (_BOTH, _BOTH),
        ),
    )
}
