"""Scripted answers as Responses writes them: one body or events. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from proctor.api.usage import Usage
from proctor.wire.fields import write_json
from proctor.wire.format import ModelRequest
from proctor.wire.ids import answer_id, pieces
from proctor.wire.script import ScriptedAnswer
from proctor.wire.sse import event

_INCOMPLETE: Mapping[str, str] = {"max_tokens": "max_output_tokens", "refusal": "content_filter"}
_Event = dict[str, Any]


def body(request: ModelRequest, answer: ScriptedAnswer) -> Mapping[str, Any]:
    """The whole response."""
    reason = _INCOMPLETE.get(answer.reason())
    return {
        **_head(request, answer),
        "status": "incomplete" if reason else "completed",
        "incomplete_details": {"reason": reason} if reason else None,
        "output": _items(request, answer),
        "usage": _figures(answer.usage_for(request), answer.reasoning),
    }


def events(request: ModelRequest, answer: ScriptedAnswer) -> Iterator[bytes]:
    """The response as numbered events: each item as it begins, in pieces, and whole."""
    for number, body_ in enumerate(_events(request, answer)):
        yield event({"sequence_number": number, **body_}, body_["type"])


def _events(request: ModelRequest, answer: ScriptedAnswer) -> Iterator[_Event]:
    begun = {**_head(request, answer), "status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(_items(request, answer)):
        yield from _item_events(index, item)
    whole = body(request, answer)
    yield {"type": f"response.{whole['status']}", "response": whole}


def _item_events(index: int, item: _Event) -> Iterator[_Event]:
    about = {"output_index": index, "item_id": item["id"]}
    yield {"type": "response.output_item.added", "output_index": index, "item": _empty(item)}
    match item["type"]:
        case "message":
            yield from _text_events(about, item["content"][0])
        case "reasoning":
            yield from _summary_events(about, item["summary"][0])
        case _:
            yield from _argument_events(about, item["arguments"])
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _text_events(about: _Event, part: _Event) -> Iterator[_Event]:
    at = {**about, "content_index": 0}
    yield {"type": "response.content_part.added", **at, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.output_text.delta", **at, "delta": piece, "logprobs": []}
    yield {"type": "response.output_text.done", **at, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **at, "part": part}


def _summary_events(about: _Event, part: _Event) -> Iterator[_Event]:
    at = {**about, "summary_index": 0}
    yield {"type": "response.reasoning_summary_part.added", **at, "part": {**part, "text": ""}}
    for piece in pieces(part["text"]):
        yield {"type": "response.reasoning_summary_text.delta", **at, "delta": piece}
    yield {"type": "response.reasoning_summary_text.done", **at, "text": part["text"]}
    yield {"type": "response.reasoning_summary_part.done", **at, "part": part}


def _argument_events(about: _Event, arguments: str) -> Iterator[_Event]:
    for piece in pieces(arguments):
        yield {"type": "response.function_call_arguments.delta", **about, "delta": piece}
    yield {"type": "response.function_call_arguments.done", **about, "arguments": arguments}


def _empty(item: _Event) -> _Event:
    blank = {"content": [], "summary": [], "arguments": ""}
    begun = {key: blank.get(key, value) for key, value in item.items()}
    return {**begun, "status": "in_progress"}


def _items(request: ModelRequest, answer: ScriptedAnswer) -> list[_Event]:
    items: list[_Event] = []
    if answer.thinking:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        items.append(_item("reasoning", answer_id("rs_", request, answer), summary=summary))
    if answer.text:
        content = [{"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []}]
        about = {"role": "assistant", "content": content}
        items.append(_item("message", answer_id("msg_", request, answer), **about))
    for number, tool in enumerate(answer.tools):
        call = {
            "call_id": answer_id("call_", request, answer, number),
            "name": tool.name,
            "arguments": write_json(tool.input).decode(),
        }
        items.append(_item("function_call", answer_id("fc_", request, answer, number), **call))
    return items


def _item(kind: str, id_: str, **fields: Any) -> _Event:
    return {"type": kind, "id": id_, "status": "completed", **fields}


def _head(request: ModelRequest, answer: ScriptedAnswer) -> _Event:
    return {
        "id": answer_id("resp_", request, answer),
        "object": "response",
        "created_at": 0,
        "model": request.model,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }


def _figures(usage: Usage, reasoning: int) -> _Event:
    heard = usage.input + usage.cache_read + usage.cache_write
    return {
        "input_tokens": heard,
        "input_tokens_details": {
            "cached_tokens": usage.cache_read,
            "cache_write_tokens": usage.cache_write,
        },
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": heard + usage.output,
    }
