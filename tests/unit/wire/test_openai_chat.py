import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders_gateway import A_COMPLETION, COMPLETION_CHUNKS, USAGE_CHUNK, a_chunk, body, sse
from proctor.api.usage import Usage
from proctor.wire.format import ModelRequest, Reading
from proctor.wire.formats import OPENAI_CHAT as WIRE
from proctor.wire.script import ScriptedAnswer, ScriptedTool
from proctor.wire.sse import MAX_EVENT_BYTES

STREAM = sse(COMPLETION_CHUNKS)


def read(*chunks: bytes, stream: bool = True) -> Reading:
    meter = WIRE.meter(stream)
    for chunk in chunks:
        meter.feed(chunk)
    return meter.reading()


def test_a_request_tells_model_texts_turn_tools_and_stream() -> None:
    request = WIRE.parse(
        body(
            model="gpt-x",
            stream=True,
            stream_options={"include_usage": True},
            tools=[{"type": "function", "function": {"name": "write"}}],
            messages=[
                {"role": "system", "content": "Be brief."},
                {"role": "developer", "content": [{"type": "text", "text": "Be kind."}]},
                {"role": "user", "content": [{"type": "text", "text": "fizzbuzz"}, {"type": "x"}]},
                {"role": "assistant", "content": None, "tool_calls": []},
                {"role": "tool", "content": "written"},
            ],
        )
    )
    assert request == ModelRequest(
        model="gpt-x",
        texts=("fizzbuzz", "", "written"),
        system="Be brief.\nBe kind.",
        turn=2,
        tools=("write",),
        stream=True,
        usage_in_stream=True,
    )


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({}, id="no-stream"),
        pytest.param({"stream": True, "stream_options": {"include_usage": True}}, id="asks-itself"),
    ],
)
def test_a_request_whose_answer_carries_usage_goes_out_as_it_came(
    fields: dict[str, object],
) -> None:
    data = body(model="m", messages=[], **fields)
    outgoing = WIRE.outgoing(data, WIRE.parse(data))
    assert (outgoing.body, outgoing.relay) == (data, None)


def test_a_stream_is_asked_for_usage_when_its_client_does_not() -> None:
    data = body(model="m", messages=["\ud83d"], stream=True, stream_options={"other": 1})
    outgoing = WIRE.outgoing(data, WIRE.parse(data))
    sent = json.loads(outgoing.body)
    assert sent["stream_options"] == {"other": 1, "include_usage": True}
    assert sent["messages"] == ["\ud83d"]
    assert outgoing.relay is not None


def hidden(*chunks: bytes) -> bytes:
    data = body(model="m", messages=[], stream=True)
    relay = WIRE.outgoing(data, WIRE.parse(data)).relay
    assert relay is not None
    return b"".join(relay.feed(chunk) for chunk in chunks) + relay.end()


@given(st.lists(st.integers(0, len(STREAM)), max_size=5))
def test_the_usage_chunk_is_hidden_and_the_rest_passes_byte_for_byte(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(STREAM)]
    passed = hidden(*(STREAM[a:b] for a, b in itertools.pairwise(cuts)))
    assert passed == sse([chunk for chunk in COMPLETION_CHUNKS if chunk is not USAGE_CHUNK])


def test_a_usage_chunk_without_figures_is_hidden_too() -> None:
    assert hidden(sse([{**USAGE_CHUNK, "usage": {}}])) == b""


def test_figures_stay_when_a_later_chunk_has_none() -> None:
    reading = read(sse([*COMPLETION_CHUNKS[:4], {**USAGE_CHUNK, "usage": {}}]))
    assert (reading.usage, reading.complete) == (Usage(100, 20), True)


def test_an_unfinished_event_passes_at_the_end() -> None:
    assert hidden(b"data: half") == b"data: half"


def test_an_event_larger_than_the_limit_passes_before_its_end() -> None:
    data = b"data: " + b"x" * MAX_EVENT_BYTES + b"\n\ndata: y\n\n"
    assert hidden(data[:-12], data[-12:]) == data


def test_a_body_tells_usage_by_kind() -> None:
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 20,
        "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
    }
    message = {"tool_calls": [{"function": {"name": "write"}}]}
    choices = [{"message": message, "finish_reason": "tool_calls"}]
    data = body(**{**A_COMPLETION, "usage": usage, "choices": choices})
    assert read(data, stream=False) == Reading(
        usage=Usage(30, 20, cache_read=60, cache_write=10),
        complete=True,
        stop_reason="tool_calls",
        tools=("write",),
    )


def test_more_cached_than_prompt_tokens_never_gives_negative_input() -> None:
    usage = {"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 9}}
    assert read(body(**{**A_COMPLETION, "usage": usage}), stream=False).usage == Usage(cache_read=5)


@pytest.mark.parametrize(
    "data", [pytest.param(b"", id="empty"), pytest.param(b'{"choices": 1}', id="no-usage")]
)
def test_a_body_without_figures_measures_nothing(data: bytes) -> None:
    assert read(data, stream=False) == Reading()


@given(st.lists(st.integers(0, len(STREAM)), max_size=5))
def test_a_stream_is_measured_however_it_is_cut_into_chunks(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(STREAM)]
    reading = read(*(STREAM[a:b] for a, b in itertools.pairwise(cuts)))
    assert reading == Reading(usage=Usage(100, 20), complete=True, stop_reason="stop", characters=7)


def test_a_stream_that_was_cut_before_its_usage_measures_nothing() -> None:
    assert read(sse(COMPLETION_CHUNKS[:3])) == Reading(stop_reason="stop", characters=7)


def test_tools_of_a_stream_are_named_once() -> None:
    first = {"tool_calls": [{"index": 0, "function": {"name": "write", "arguments": ""}}]}
    more = {"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}
    assert read(sse([a_chunk(first), a_chunk(more)])).tools == ("write",)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(
            {"type": "server_error", "message": "broke"}, "server_error: broke", id="object"
        ),
        pytest.param("broke", "error: broke", id="text"),
    ],
)
def test_an_error_in_a_stream_is_quoted(error: object, text: str) -> None:
    assert read(sse([a_chunk({"content": "x"}), {"error": error}])).error == text


@pytest.mark.parametrize(
    ("status", "kind", "code"),
    [
        pytest.param(400, "invalid_request_error", None, id="400"),
        pytest.param(401, "invalid_request_error", "invalid_api_key", id="401"),
        pytest.param(429, "requests", "rate_limit_exceeded", id="429"),
        pytest.param(503, "server_error", None, id="503"),
    ],
)
def test_errors_have_openais_shape(status: int, kind: str, code: str | None) -> None:
    error = {"message": "why", "type": kind, "param": None, "code": code}
    assert json.loads(WIRE.error(status, "why")) == {"error": error}


def test_the_key_is_sent_as_a_bearer_token() -> None:
    assert WIRE.headers("k") == {"authorization": "Bearer k"}
    assert WIRE.headers(None) == {}


ANSWER = ScriptedAnswer("Grüße", (ScriptedTool("write", {"path": "ä" * 40}),), Usage(9, 8, 7, 6))
REQUEST = ModelRequest("gpt-x", ("hi",))


def test_a_scripted_answer_measures_the_same_as_body_and_as_stream() -> None:
    whole = read(json.dumps(WIRE.answer(REQUEST, ANSWER)).encode(), stream=False)
    streamed = read(*WIRE.answer_stream(REQUEST, ANSWER))
    assert whole == streamed
    assert whole.usage == ANSWER.usage
    assert (whole.stop_reason, whole.tools) == ("tool_calls", ("write",))


def test_a_scripted_stream_without_wish_for_usage_has_none() -> None:
    request = ModelRequest("gpt-x", usage_in_stream=False)
    chunks = list(WIRE.answer_stream(request, ScriptedAnswer("hi")))
    assert read(*chunks) == Reading(stop_reason="stop", characters=2)
    assert chunks[-1] == b"data: [DONE]\n\n"


def test_an_answer_of_tools_alone_has_no_content() -> None:
    answer = WIRE.answer(REQUEST, ScriptedAnswer(tools=(ScriptedTool("ls"),)))
    assert answer["choices"][0]["message"]["content"] is None
    plain = WIRE.answer(REQUEST, ScriptedAnswer("hi"))
    assert "tool_calls" not in plain["choices"][0]["message"]


def test_models_are_listed() -> None:
    assert [model["id"] for model in WIRE.models(["a"])["data"]] == ["a"]
