"""Events of a stream are joined to be read, and cut again to be replayed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from proctor.api.usage import Usage, UsageDetails
from proctor.gateway.cassette import AnsweredCall
from proctor.gateway.cassette_events import joined, written
from proctor.gateway.cassette_said import said
from proctor.gateway.cassette_whole import whole
from proctor.gateway.record_upstream import read_answer
from proctor.gateway.replay_forms import as_asked_for
from proctor.gateway.upstream import Forward
from proctor.wire.format import ModelRequest, Reading, WireFormat
from proctor.wire.formats import FORMATS
from proctor.wire.script import ScriptedAnswer, ScriptedTool

LONG = "Grüße, this is a text of more than one piece. " * 4
ANSWER = ScriptedAnswer(
    text=LONG,
    thinking="First I think, and for a while. " * 3,
    tools=(ScriptedTool("write", {"path": "a.py", "content": LONG}), ScriptedTool("list")),
    usage=Usage(input=100, output=50, cache_read=7, cache_write=3),
    details=UsageDetails(reasoning=5),
)
STREAMED = ModelRequest(model="m", stream=True)
formats = pytest.mark.parametrize("wire_format", FORMATS.values(), ids=FORMATS.keys())


def stream(wire_format: WireFormat) -> bytes:
    return b"".join(wire_format.answer_stream(STREAMED, ANSWER))


def reading(wire_format: WireFormat, body: bytes, *, events: bool) -> Reading:
    meter = wire_format.meter(events)
    meter.feed(body)
    return replace(meter.reading(), characters=0)  # a meter may only estimate them


def forward(wire_format: WireFormat, **fields: Any) -> Forward:
    return Forward(wire_format, ModelRequest(model="m", **fields), b"{}")


@formats
def test_a_stream_is_replayed_as_it_was_said(wire_format: WireFormat) -> None:
    recorded = read_answer(200, stream(wire_format), True)
    assert recorded.events is not None
    replayed = b"".join(written(wire_format.name, recorded.events))
    assert reading(wire_format, replayed, events=True) == reading(
        wire_format, stream(wire_format), events=True
    )


@pytest.mark.parametrize("name", ["anthropic-messages", "openai-chat", "openai-responses"])
def test_a_recorded_text_stands_in_one_piece(name: str) -> None:
    recorded = read_answer(200, stream(FORMATS[name]), True)
    assert LONG in json.dumps(recorded.events, ensure_ascii=False)


@pytest.mark.parametrize("name", ["anthropic-messages", "openai-chat", "openai-responses"])
def test_a_replayed_text_comes_in_pieces(name: str) -> None:
    wire_format = FORMATS[name]
    recorded = read_answer(200, stream(wire_format), True)
    assert recorded.events is not None
    assert len(list(written(name, recorded.events))) > len(recorded.events) + 5


@pytest.mark.parametrize("name", ["anthropic-messages", "openai-chat", "openai-responses"])
def test_a_stream_of_the_same_pieces_comes_back_byte_for_byte(name: str) -> None:
    recorded = read_answer(200, stream(FORMATS[name]), True)
    assert recorded.events is not None
    replayed = [
        json.loads(e.split(b"data: ")[1])
        for e in written(name, recorded.events)
        if b"[DONE]" not in e
    ]
    original = [
        json.loads(e.split(b"data: ")[1]) for e in stream(FORMATS[name]).split(b"\n\n") if b"{" in e
    ]
    assert replayed == original


@formats
def test_a_stream_answers_who_asks_for_one_body(wire_format: WireFormat) -> None:
    recorded = read_answer(200, stream(wire_format), True)
    given = as_asked_for(forward(wire_format), recorded)
    assert given.events is None
    again = said(wire_format, given.body)
    assert again is not None
    assert (again.text, again.thinking, again.tools) == (ANSWER.text, ANSWER.thinking, ANSWER.tools)
    assert again.usage == reading(wire_format, stream(wire_format), events=True).usage


@formats
def test_one_body_answers_who_asks_for_a_stream(wire_format: WireFormat) -> None:
    body = dict(wire_format.answer(ModelRequest(model="m"), ANSWER))
    given = as_asked_for(forward(wire_format, stream=True), AnsweredCall(body=body))
    assert given.events is not None
    replayed = b"".join(written(wire_format.name, given.events))
    found = reading(wire_format, replayed, events=True)
    assert found.usage == reading(wire_format, stream(wire_format), events=True).usage
    assert (found.tools, found.complete) == (("write", "list"), True)


def test_an_array_of_gemini_and_its_events_answer_each_other() -> None:
    gemini = FORMATS["gemini"]
    events = read_answer(200, stream(gemini), True)
    array = as_asked_for(forward(gemini, stream=True, in_array=True), events)
    assert array.body == list(events.events or ())
    assert as_asked_for(forward(gemini, stream=True), array) == events
    assert as_asked_for(forward(gemini), array) == as_asked_for(forward(gemini), events)


@formats
def test_an_error_stays_what_it_was(wire_format: WireFormat) -> None:
    error = AnsweredCall(400, body={"error": "x"})
    assert as_asked_for(forward(wire_format, stream=True), error) == error


def test_pings_and_padding_are_left_out() -> None:
    events = [{"type": "ping"}, {"type": "x.delta", "delta": "a", "obfuscation": "zz"}]
    assert joined(events) == ({"type": "x.delta", "delta": "a"},)


def test_pieces_of_different_texts_stay_apart() -> None:
    events = [{"type": "x.delta", "index": i, "delta": "a"} for i in (0, 1)]
    assert len(joined(events)) == 2


def test_events_that_are_no_answer_make_no_body() -> None:
    assert whole("anthropic-messages", [{"type": "error"}]) is None
    assert whole("openai-responses", [{"type": "error"}]) is None
    assert whole("gemini", []) is None
    assert said(FORMATS["gemini"], "text") is None


def test_an_answer_that_is_no_json_is_kept_as_text() -> None:
    assert read_answer(404, b"not found", False) == AnsweredCall(404, text="not found")
