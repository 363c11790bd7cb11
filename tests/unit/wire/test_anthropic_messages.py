import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders_gateway import A_MESSAGE, MESSAGE_EVENTS, body, sse
from proctor.api.usage import Usage, UsageDetails
from proctor.wire.format import ModelRequest, Reading, RequestError
from proctor.wire.formats import ANTHROPIC_MESSAGES as WIRE
from proctor.wire.script import ScriptedAnswer, ScriptedTool

STREAM = sse(MESSAGE_EVENTS)


def read(*chunks: bytes, stream: bool = True) -> Reading:
    meter = WIRE.meter(stream)
    for chunk in chunks:
        meter.feed(chunk)
    return meter.reading()


def test_a_request_tells_model_texts_turn_tools_and_stream() -> None:
    request = WIRE.parse(
        body(
            model="claude-x",
            stream=True,
            system=[{"type": "text", "text": "Be brief."}],
            tools=[{"name": "write", "input_schema": {}}],
            messages=[
                {"role": "user", "content": "fizzbuzz"},
                {"role": "assistant", "content": [{"type": "tool_use", "name": "write"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "content": [{"type": "text", "text": "written"}]},
                        {"type": "tool_result", "content": "ok"},
                        {"type": "text", "text": "go on"},
                    ],
                },
            ],
        )
    )
    assert request == ModelRequest(
        model="claude-x",
        texts=("fizzbuzz", "", "written\nok\ngo on"),
        system="Be brief.",
        turn=2,
        tools=("write",),
        stream=True,
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        pytest.param(b"{", "not a JSON object", id="broken-json"),
        pytest.param(b"[]", "not a JSON object", id="a-list"),
        pytest.param(b"[" * 100_000, "not a JSON object", id="too-deep"),
        pytest.param(b'{"messages": []}', "model", id="no-model"),
        pytest.param(b'{"model": 1, "messages": []}', "model", id="model-is-a-number"),
        pytest.param(b'{"model": "m", "messages": {}}', "messages", id="messages-are-no-list"),
    ],
)
def test_what_is_no_request_is_refused_by_name(data: bytes, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        WIRE.parse(data)


def test_a_request_goes_out_as_it_came() -> None:
    data = b'{"model": "m",  "messages": []}'
    outgoing = WIRE.outgoing(data, WIRE.parse(data))
    assert (outgoing.body, outgoing.relay) == (data, None)


def test_a_body_tells_usage_by_kind() -> None:
    usage = {
        "input_tokens": 5,
        "output_tokens": 6,
        "cache_read_input_tokens": 7,
        "cache_creation_input_tokens": 8,
        "cache_creation": {"ephemeral_5m_input_tokens": 5, "ephemeral_1h_input_tokens": 3},
    }
    content = [{"type": "tool_use", "name": "write"}, {"type": "text", "text": "x"}]
    assert read(body(**{**A_MESSAGE, "usage": usage, "content": content}), stream=False) == Reading(
        usage=Usage(5, 6, cache_read=7, cache_write=8),
        details=UsageDetails(cache_write_1h=3),
        complete=True,
        stop_reason="end_turn",
        tools=("write",),
        characters=1,
    )


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"<html>", id="html"),
        pytest.param(b"{}", id="no-usage"),
        pytest.param(json.dumps(A_MESSAGE).encode()[:-1], id="cut"),
    ],
)
def test_a_body_without_figures_measures_nothing(data: bytes) -> None:
    assert read(data, stream=False) == Reading(characters=0 if data == b"{}" else len(data))


def test_figures_that_are_no_counts_are_unmeasured() -> None:
    usage = {"input_tokens": -1, "output_tokens": True, "cache_read_input_tokens": "9"}
    reading = read(body(**{**A_MESSAGE, "usage": usage}), stream=False)
    assert (reading.usage, reading.complete) == (None, False)


def test_output_that_only_the_beginning_told_is_not_final() -> None:
    events = [{**e, "usage": {}} if e["type"] == "message_delta" else e for e in MESSAGE_EVENTS]
    reading = read(sse(events))
    assert (reading.usage, reading.complete) == (Usage(100, 1, cache_read=7), False)


def test_an_error_body_is_quoted() -> None:
    reading = read(WIRE.error(529, "too much"), stream=False)
    assert reading == Reading(error="overloaded_error: too much")


@given(st.lists(st.integers(0, len(STREAM)), max_size=5))
def test_a_stream_is_measured_however_it_is_cut_into_chunks(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(STREAM)]
    reading = read(*(STREAM[a:b] for a, b in itertools.pairwise(cuts)))
    assert reading.usage == Usage(input=100, output=20, cache_read=7)
    assert reading.complete


def test_a_stream_that_was_cut_keeps_the_figures_of_its_start() -> None:
    reading = read(sse(MESSAGE_EVENTS[:3]))
    assert reading.usage == Usage(input=100, output=1, cache_read=7)
    assert not reading.complete


def test_a_stream_without_any_event_measures_nothing() -> None:
    assert read(b": ping\n\n", b"data: no json\n\n") == Reading()


def test_an_error_in_a_stream_leaves_its_figures_incomplete() -> None:
    error = {"type": "error", "error": {"type": "overloaded_error", "message": "too much"}}
    reading = read(sse([*MESSAGE_EVENTS[:3], error]))
    assert (reading.error, reading.complete) == ("overloaded_error: too much", False)


def test_tools_of_a_stream_are_named() -> None:
    block = {"type": "content_block_start", "content_block": {"type": "tool_use", "name": "ls"}}
    assert read(sse([block])).tools == ("ls",)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        pytest.param(400, "invalid_request_error", id="400"),
        pytest.param(401, "authentication_error", id="401"),
        pytest.param(418, "invalid_request_error", id="418"),
        pytest.param(429, "rate_limit_error", id="429"),
        pytest.param(503, "api_error", id="503"),
        pytest.param(529, "overloaded_error", id="529"),
    ],
)
def test_errors_have_anthropics_shape(status: int, kind: str) -> None:
    error = {"type": "error", "error": {"type": kind, "message": "why"}}
    assert json.loads(WIRE.error(status, "why")) == error


def test_the_key_is_sent_as_x_api_key() -> None:
    assert WIRE.headers("k") == {"x-api-key": "k"}
    assert WIRE.headers(None) == {}


ANSWER = ScriptedAnswer("Grüße", (ScriptedTool("write", {"path": "ä" * 40}),), Usage(9, 8, 7, 6))
REQUEST = ModelRequest("claude-x", ("hi",))


def test_a_scripted_answer_measures_the_same_as_body_and_as_stream() -> None:
    whole = read(json.dumps(WIRE.answer(REQUEST, ANSWER)).encode(), stream=False)
    streamed = read(*WIRE.answer_stream(REQUEST, ANSWER))
    assert whole == streamed
    assert whole.usage == ANSWER.usage
    assert (whole.stop_reason, whole.tools) == ("tool_use", ("write",))


def test_scripted_ids_differ_between_turns_and_stay_the_same_for_a_retry() -> None:
    def tool_id(request: ModelRequest) -> Any:
        return WIRE.answer(request, ANSWER)["content"][1]["id"]

    assert tool_id(REQUEST) == tool_id(REQUEST)
    assert tool_id(REQUEST) != tool_id(ModelRequest("claude-x", ("hi", "", "ok"), turn=2))


def test_models_are_listed() -> None:
    listed = WIRE.models(["a", "b"])
    assert [model["id"] for model in listed["data"]] == ["a", "b"]
    assert WIRE.models([])["first_id"] is None
