"""What holds for every model API."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders_gateway import body, sse
from builders_wire import SAMPLES, Sample
from proctor.api.usage import Usage, UsageDetails
from proctor.wire.format import ModelRequest, Reading, RequestError
from proctor.wire.script import ScriptedAnswer, ScriptedTool

EACH = pytest.mark.parametrize(
    "sample", [pytest.param(sample, id=name) for name, sample in SAMPLES.items()]
)
TOOLS = (ScriptedTool("write", {"path": "ä" * 40, "quote": '"{}[]\\'}), ScriptedTool("ls"))
ANSWER = ScriptedAnswer(
    "Grüße, it is done.",
    TOOLS,
    Usage(9, 8, 7),
    thinking="I think about it.",
    details=UsageDetails(reasoning=3),
)


def read(sample: Sample, *chunks: bytes, events: bool = True) -> Reading:
    meter = sample.wire_format.meter(events)
    for chunk in chunks:
        meter.feed(chunk)
    return meter.reading()


def asked(sample: Sample, *, stream: bool) -> ModelRequest:
    data = json.dumps(sample.body(stream=stream)).encode()
    return sample.wire_format.parse(data, sample.target(stream))


@EACH
@pytest.mark.parametrize(
    "stream", [pytest.param(False, id="whole"), pytest.param(True, id="stream")]
)
def test_a_request_tells_what_routing_and_scripts_need(sample: Sample, stream: bool) -> None:
    request = asked(sample, stream=stream)
    assert (request.model, request.texts, request.turn) == ("model-1", ("Grüße?",), 1)
    assert (request.stream, request.in_array) == (stream, False)
    assert request.characters == 6


@EACH
def test_what_is_no_object_is_refused(sample: Sample) -> None:
    with pytest.raises(RequestError, match="not a JSON object"):
        sample.wire_format.parse(b"[1]", sample.target(False))


@EACH
def test_a_whole_answer_is_measured(sample: Sample) -> None:
    reading = read(sample, sample.answer, events=False)
    assert (reading.usage, reading.complete) == (sample.usage[0], True)
    assert reading.characters > 0


@EACH
@given(data=st.data())
def test_a_stream_is_measured_however_it_is_cut_into_chunks(
    sample: Sample, data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, len(sample.stream)), max_size=6))
    cuts = [0, *sorted(places), len(sample.stream)]
    reading = read(sample, *(sample.stream[a:b] for a, b in itertools.pairwise(cuts)))
    assert (reading.usage, reading.complete, reading.characters) == (sample.usage[1], True, 7)


@EACH
@given(data=st.binary(max_size=200))
def test_no_bytes_ever_break_a_meter(sample: Sample, data: bytes) -> None:
    for events in (False, True):
        assert not read(sample, data, events=events).complete


@EACH
def test_a_scripted_answer_measures_the_same_as_body_and_as_stream(sample: Sample) -> None:
    wire_format = sample.wire_format
    request = asked(sample, stream=True)
    whole = read(sample, json.dumps(wire_format.answer(request, ANSWER)).encode(), events=False)
    streamed = read(sample, *wire_format.answer_stream(request, ANSWER))
    assert (whole.usage, whole.complete) == (ANSWER.usage, True)
    assert (whole.tools, whole.stop_reason) == (("write", "ls"), streamed.stop_reason)
    assert (streamed.usage, streamed.tools, streamed.complete) == (whole.usage, whole.tools, True)


@EACH
def test_a_stream_is_over_when_its_last_event_was_read(sample: Sample) -> None:
    meter = sample.wire_format.meter(True)
    assert not meter.is_over
    meter.feed(sample.stream)
    assert meter.is_over is (sample.wire_format.name != "gemini")


@EACH
def test_an_error_is_read_as_it_is_written(sample: Sample) -> None:
    reading = read(sample, sample.wire_format.error(429, "too many"), events=False)
    assert "too many" in str(reading.error)
    assert not reading.complete


@EACH
def test_an_empty_scripted_answer_is_a_whole_one(sample: Sample) -> None:
    request = asked(sample, stream=True)
    for chunks in (
        [json.dumps(sample.wire_format.answer(request, ScriptedAnswer())).encode()],
        list(sample.wire_format.answer_stream(request, ScriptedAnswer())),
    ):
        assert read(sample, *chunks, events=len(chunks) > 1 or b"data:" in chunks[0]).complete


@EACH
def test_models_are_listed(sample: Sample) -> None:
    listed = sample.wire_format.models(["model-a", "model-b"])
    (models,) = (value for value in listed.values() if isinstance(value, list))
    assert [model.get("name", model.get("id"))[-7:] for model in models] == ["model-a", "model-b"]


@EACH
@pytest.mark.parametrize("key", [pytest.param("k", id="key"), pytest.param(None, id="none")])
def test_a_key_goes_into_one_header(sample: Sample, key: str | None) -> None:
    assert len(sample.wire_format.headers(key)) == (1 if key else 0)


def test_answers_that_come_later_are_refused() -> None:
    with pytest.raises(RequestError, match="background"):
        SAMPLES["openai-responses"].wire_format.parse(body(model="m", input="x", background=True))


@pytest.mark.parametrize("name", ["anthropic-messages", "openai-chat", "openai-responses"])
def test_a_long_stream_that_broke_is_known_to_nearly_its_length(name: str) -> None:
    """Most pieces are not read as JSON: their length says how much they say."""
    sample = SAMPLES[name]
    answer = ScriptedAnswer("".join(f"{number:>7} and " for number in range(100)))
    stream = list(sample.wire_format.answer_stream(asked(sample, stream=True), answer))
    said = [piece for piece in stream if b" and " in piece and b"content_part" not in piece][:40]
    seen = read(sample, *stream[: stream.index(said[-1]) + 1]).characters
    assert abs(seen - 24 * len(said)) <= 24


@EACH
def test_places_below_the_base_url_are_those_of_the_makers_sdk(sample: Sample) -> None:
    wire_format = sample.wire_format
    for stream in (False, True):
        path = sample.paths[stream].partition("?")[0]
        own = wire_format.path(asked(sample, stream=stream))
        assert path == (own if path.startswith(own) else f"/v1{own}")
    counted = wire_format.count_path(asked(sample, stream=False))
    assert (counted is None) is (wire_format.name == "openai-chat")


@EACH
def test_a_count_is_one_number(sample: Sample) -> None:
    counted = sample.wire_format.count(42)
    assert [value for value in counted.values() if isinstance(value, int)] == [42]


@EACH
def test_requests_of_most_apis_go_out_as_they_came(sample: Sample) -> None:
    request = asked(sample, stream=True)
    assert sample.wire_format.outgoing(b"{}", request).body == b"{}"


def test_the_fast_mode_is_a_tier() -> None:
    sample = SAMPLES["anthropic-messages"]
    message = json.loads(sample.answer)
    for figures, tier in (({"speed": "fast"}, "fast"), ({"service_tier": "standard"}, "standard")):
        message["usage"].update(figures)
        assert read(sample, json.dumps(message).encode(), events=False).tier == tier
        message["usage"].pop("speed", None)


USAGE = {"gemini": "usageMetadata"}
MAIN = {
    "anthropic-messages": ("input_tokens", "output_tokens"),
    "openai-chat": ("prompt_tokens", "completion_tokens"),
    "openai-responses": ("input_tokens", "output_tokens"),
    "gemini": ("promptTokenCount", "candidatesTokenCount"),
}
UNTOLD = pytest.mark.parametrize(
    "untold",
    [
        pytest.param(None, id="null"),
        pytest.param({}, id="empty"),
        pytest.param({"other": 1}, id="other-names"),
        pytest.param("nulls", id="null-figures"),
        pytest.param("texts", id="figures-as-text"),
    ],
)


def figures(sample: Sample, untold: object) -> object:
    values = {"nulls": None, "texts": "7"}
    if not isinstance(untold, str):
        return untold
    return dict.fromkeys(MAIN[sample.wire_format.name], values[untold])


def with_figures(item: object, name: str, figures: object) -> object:
    """An answer or event with other figures, wherever it has some."""
    if not isinstance(item, dict):
        return item
    changed = {key: with_figures(value, name, figures) for key, value in item.items()}
    return {**changed, name: figures} if isinstance(item.get(name), dict) else changed


def streamed_with(sample: Sample, figures: object) -> bytes:
    name = USAGE.get(sample.wire_format.name, "usage")
    return sse([with_figures(event, name, figures) for event in sample.events])


@EACH
@UNTOLD
def test_figures_that_say_nothing_are_unmeasured_and_never_zero(
    sample: Sample, untold: object
) -> None:
    """``usage: {}`` was once 0 tokens, complete and free."""
    name = USAGE.get(sample.wire_format.name, "usage")
    body = with_figures(json.loads(sample.answer), name, figures(sample, untold))
    whole = read(sample, json.dumps(body).encode(), events=False)
    streamed = read(sample, streamed_with(sample, figures(sample, untold)))
    for reading in (whole, streamed):
        assert (reading.usage, reading.complete) == (None, False)
        assert reading.stop_reason
        assert reading.characters > 0


@EACH
def test_input_alone_is_told_and_not_complete(sample: Sample) -> None:
    name = USAGE.get(sample.wire_format.name, "usage")
    told = {MAIN[sample.wire_format.name][0]: 30}
    body = with_figures(json.loads(sample.answer), name, told)
    whole = read(sample, json.dumps(body).encode(), events=False)
    for reading in (whole, read(sample, streamed_with(sample, told))):
        assert (reading.usage, reading.complete) == (Usage(30), False)


@EACH
def test_figures_of_zero_are_measured(sample: Sample) -> None:
    name = USAGE.get(sample.wire_format.name, "usage")
    body = with_figures(
        json.loads(sample.answer), name, dict.fromkeys(MAIN[sample.wire_format.name], 0)
    )
    reading = read(sample, json.dumps(body).encode(), events=False)
    assert (reading.usage, reading.complete) == (Usage(), True)
