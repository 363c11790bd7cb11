import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from builders_gateway import body
from builders_wire import A_GENERATION, GENERATION_PIECES, TEXT
from proctor.api.usage import Usage, UsageDetails
from proctor.wire.format import Reading, RequestError
from proctor.wire.formats import GEMINI as WIRE
from proctor.wire.json_items import JsonItems
from proctor.wire.script import ScriptedAnswer, ScriptedTool

ASKED = body(contents=[{"role": "user", "parts": [{"text": "hi"}]}])
ARRAY = json.dumps(GENERATION_PIECES, ensure_ascii=False, indent=1).encode()


def read(*chunks: bytes) -> Reading:
    meter = WIRE.meter(False)
    for chunk in chunks:
        meter.feed(chunk)
    return meter.reading()


def test_a_conversation_tells_texts_system_turn_and_tools() -> None:
    answered = {"functionResponse": {"name": "ls", "response": {"files": "a.py"}}}
    request = WIRE.parse(
        body(
            system_instruction={"parts": [{"text": "Be brief."}]},
            tools=[{"function_declarations": [{"name": "ls"}, {"name": "write"}]}],
            contents=[
                {"role": "user", "parts": [{"text": "fizz"}, {"text": "buzz"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "ls"}}]},
                {"role": "user", "parts": [answered, {"inlineData": {}}]},
            ],
        ),
        "gemini-x:generateContent",
    )
    assert request.texts == ("fizz\nbuzz", '{"files":"a.py"}')
    assert (request.system, request.turn) == ("Be brief.", 2)
    assert (request.model, request.tools) == ("gemini-x", ("ls", "write"))


@pytest.mark.parametrize(
    ("target", "stream", "in_array"),
    [
        pytest.param("m:generateContent", False, False, id="whole"),
        pytest.param("m:streamGenerateContent?alt=sse", True, False, id="events"),
        pytest.param("m:streamGenerateContent?x=1", True, True, id="array"),
        pytest.param("m:countTokens", False, False, id="count"),
    ],
)
def test_the_url_says_how_the_answer_comes(target: str, stream: bool, in_array: bool) -> None:
    request = WIRE.parse(ASKED, target)
    assert (request.stream, request.in_array) == (stream, in_array)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        pytest.param("", "MODEL:METHOD", id="nothing"),
        pytest.param("m:embedContent", "methods generateContent", id="other-method"),
        pytest.param("../secrets:generateContent", "MODEL:METHOD", id="leads-out"),
        pytest.param("a/../b:generateContent", "MODEL:METHOD", id="leads-out-in-the-middle"),
        pytest.param("a?b:generateContent", "MODEL:METHOD", id="query-in-the-name"),
    ],
)
def test_a_url_that_names_no_model_and_method_is_refused(target: str, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        WIRE.parse(ASKED, target)


def test_a_request_without_contents_is_refused() -> None:
    with pytest.raises(RequestError, match="contents"):
        WIRE.parse(b"{}", "m:generateContent")


def test_a_count_may_hold_a_whole_request() -> None:
    data = body(generateContentRequest=json.loads(ASKED))
    assert WIRE.parse(data, "m:countTokens").texts == ("hi",)


def test_paths_are_those_of_googles_sdk() -> None:
    whole, streamed = (WIRE.parse(ASKED, f"m:{method}") for method in METHODS)
    assert WIRE.path(whole) == "/v1beta/models/m:generateContent"
    assert WIRE.path(streamed) == "/v1beta/models/m:streamGenerateContent"
    assert WIRE.count_path(whole) == "/v1beta/models/m:countTokens"


METHODS = ("generateContent", "streamGenerateContent")


def test_a_body_tells_usage_by_kind_and_its_parts() -> None:
    assert read(body(**A_GENERATION)) == Reading(
        usage=Usage(100, 20, cache_read=7),
        details=UsageDetails(reasoning=5, input_image=12, input_audio=8, cached_audio=3),
        complete=True,
        stop_reason="STOP",
        characters=len(TEXT),
    )


@given(st.lists(st.integers(0, len(ARRAY)), max_size=6))
def test_an_array_is_measured_however_it_is_cut_into_chunks(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(ARRAY)]
    meter = WIRE.meter(False)
    for a, b in itertools.pairwise(cuts):
        meter.feed(ARRAY[a:b])
    assert meter.reading().usage == Usage(100, 20, cache_read=7)
    assert meter.reading().complete


def test_an_array_that_was_cut_is_measured_as_far_as_it_came() -> None:
    reading = read(ARRAY[: len(ARRAY) // 2])
    assert (reading.usage, reading.complete) == (Usage(107), False)


def test_a_prompt_that_is_blocked_is_a_whole_answer() -> None:
    blocked = {"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {}}
    assert read(body(**blocked, usage=1)).stop_reason == "SAFETY"


def test_calls_are_named() -> None:
    call = {"functionCall": {"name": "ls", "args": {"path": "."}}}
    candidate = {"content": {"parts": [call, {"text": "x"}]}, "finishReason": "STOP"}
    reading = read(body(candidates=[candidate]))
    assert (reading.tools, reading.characters) == (("ls",), 13)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        pytest.param(400, "INVALID_ARGUMENT", id="400"),
        pytest.param(418, "FAILED_PRECONDITION", id="418"),
        pytest.param(429, "RESOURCE_EXHAUSTED", id="429"),
        pytest.param(529, "UNAVAILABLE", id="529"),
    ],
)
def test_errors_have_googles_shape(status: int, kind: str) -> None:
    error = {"code": status, "message": "why", "status": kind}
    assert json.loads(WIRE.error(status, "why")) == {"error": error}


def test_an_error_in_an_array_is_quoted() -> None:
    assert read(b"[" + WIRE.error(429, "slow down") + b"]").error == "RESOURCE_EXHAUSTED: slow down"


def test_a_scripted_array_is_json_and_measures_like_the_body() -> None:
    request = WIRE.parse(ASKED, "m:streamGenerateContent")
    answer = ScriptedAnswer("x" * 60, (ScriptedTool("ls", {"a": '"}]'}),), Usage(5, 6))
    data = b"".join(WIRE.answer_stream(request, answer))
    assert len(json.loads(data)) == 4
    assert read(data).usage == Usage(5, 6)


values = st.recursive(
    st.text() | st.integers() | st.booleans(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.lists(st.dictionaries(st.text(), values), max_size=4), st.integers(1, 9), st.booleans())
def test_items_of_any_array_are_found(items: list[Any], size: int, ascii_only: bool) -> None:
    data = json.dumps(items, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    cutter = JsonItems()
    chunks = [data[at : at + size] for at in range(0, len(data), size)]
    found = [json.loads(item) for chunk in chunks for item in cutter.feed(chunk)]
    assert (found, cutter.is_over) == (items, True)


def test_an_item_beyond_the_limit_is_skipped_and_its_followers_are_found() -> None:
    cutter = JsonItems(limit_bytes=50)
    data = b'[{"a": "' + b"x" * 200 + b'"}, {"b": 1}]'
    found = [i for at in range(0, len(data), 10) for i in cutter.feed(data[at : at + 10])]
    assert found == ['{"b": 1}']


@pytest.mark.parametrize(
    ("told", "usage", "complete"),
    [
        pytest.param({"totalTokenCount": 9}, Usage(9), True, id="nothing-written"),
        pytest.param(
            {"totalTokenCount": 16, "thoughtsTokenCount": 7}, Usage(9, 7), True, id="only-thoughts"
        ),
        pytest.param({"totalTokenCount": 20}, Usage(9, 11), True, id="total-tells-output"),
        pytest.param({"thoughtsTokenCount": 7}, Usage(9, 7), False, id="no-total"),
    ],
)
def test_a_figure_of_0_that_google_leaves_out_is_told_by_the_total(
    told: dict[str, int], usage: Usage, complete: bool
) -> None:
    answer = {**A_GENERATION, "usageMetadata": {"promptTokenCount": 9, **told}}
    reading = read(body(**answer))
    assert (reading.usage, reading.complete) == (usage, complete)
