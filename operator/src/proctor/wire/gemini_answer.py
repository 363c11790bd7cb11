"""Scripted answers as Gemini writes them: one body, events, or an array of pieces. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.api.usage import Usage
from proctor.wire.fields import write_json
from proctor.wire.format import ModelRequest
from proctor.wire.ids import answer_id, pieces
from proctor.wire.script import ScriptedAnswer
from proctor.wire.sse import event

_FINISH_REASONS: Mapping[str, str] = {"max_tokens": "MAX_TOKENS", "refusal": "SAFETY"}


def body(request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
    """The whole answer."""
    thoughts = [_thought(answer.thinking)] if answer.thinking else []
    texts = [{"text": answer.text}] if answer.text else []
    parts = [*thoughts, *texts, *_calls(request, answer)]
    return _response(request, answer, parts, is_last=True)


def pieces_of(request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
    """The answer in pieces; the last one has the reason to stop."""
    parts = [_thought(piece) for piece in pieces(answer.thinking)]
    parts += [{"text": piece} for piece in pieces(answer.text)]
    parts += _calls(request, answer)
    bodies = [_response(request, answer, [part], is_last=False) for part in parts[:-1]]
    bodies.append(_response(request, answer, parts[-1:], is_last=True))
    if not request.in_array:
        yield from (event(body_) for body_ in bodies)
        return
    for number, body_ in enumerate(bodies):
        yield (b",\r\n" if number else b"[") + write_json(body_)
    yield b"]"


def models(names: Sequence[str]) -> Mapping[str, Any]:
    """A list of models, all on one page."""
    methods = ["generateContent", "streamGenerateContent", "countTokens"]
    return {
        "models": [
            {"name": f"models/{n}", "displayName": n, "supportedGenerationMethods": methods}
            for n in names
        ]
    }


def _thought(piece: str) -> dict[str, Any]:
    return {"text": piece, "thought": True}


def _calls(request: ModelRequest, answer: ScriptedAnswer) -> list[dict[str, Any]]:
    return [
        {
            "functionCall": {
                "id": answer_id("", request, answer, number),
                "name": tool.name,
                "args": dict(tool.input),
            }
        }
        for number, tool in enumerate(answer.tools)
    ]


def _response(
    request: ModelRequest, answer: ScriptedAnswer, parts: Sequence[Any], *, is_last: bool
) -> Mapping[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": list(parts)}, "index": 0}
    if is_last:
        candidate["finishReason"] = _FINISH_REASONS.get(answer.reason(), "STOP")
    return {
        "candidates": [candidate],
        "usageMetadata": _figures(answer.usage_for(request), answer.reasoning),
        "modelVersion": request.model,
        "responseId": answer_id("", request, answer),
    }


def _figures(usage: Usage, reasoning: int) -> dict[str, Any]:
    prompt = usage.input + usage.cache_read + usage.cache_write
    return {
        "promptTokenCount": prompt,
        "cachedContentTokenCount": usage.cache_read,
        "candidatesTokenCount": usage.output - reasoning,
        "thoughtsTokenCount": reasoning,
        "totalTokenCount": prompt + usage.output,
    }
