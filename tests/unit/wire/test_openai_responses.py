import json
from typing import Any

import pytest

from builders_gateway import body, sse
from builders_wire import A_RESPONSE, RESPONSE_EVENTS
from proctor.api.usage import Usage, UsageDetails
from proctor.wire.format import Reading, RequestError
from proctor.wire.formats import OPENAI_RESPONSES as WIRE
from proctor.wire.script import ScriptedAnswer


def read(*events: dict[str, Any]) -> Reading:
    meter = WIRE.meter(True)
    meter.feed(sse(list(events)))
    return meter.reading()


def test_a_conversation_tells_texts_system_turn_and_tools() -> None:
    request = WIRE.parse(
        body(
            model="gpt-x",
            instructions="Be brief.",
            tools=[{"type": "function", "name": "write"}, {"type": "web_search"}],
            input=[
                {"role": "developer", "content": "Be kind."},
                {"role": "user", "content": [{"type": "input_text", "text": "fizzbuzz"}]},
                {"type": "reasoning", "summary": []},
                {"type": "message", "role": "assistant", "content": []},
                {"type": "function_call", "name": "write", "arguments": "{}"},
                {"type": "function_call_output", "output": "written"},
                {"type": "function_call", "name": "write", "arguments": "{}"},
                {"type": "function_call_output", "output": [{"type": "input_text", "text": "ok"}]},
            ],
        )
    )
    assert (request.texts, request.system) == (("fizzbuzz", "written", "ok"), "Be brief.\nBe kind.")
    assert (request.turn, request.tools) == (3, ("write", ""))


def test_a_request_without_model_is_refused() -> None:
    with pytest.raises(RequestError, match="model"):
        WIRE.parse(b"{}")


def test_a_body_tells_usage_by_kind_and_its_parts() -> None:
    figures = {
        "input_tokens": 100,
        "input_tokens_details": {
            "cached_tokens": 60,
            "cache_write_tokens": 10,
            "image_tokens": 8,
            "audio_tokens": 9,
        },
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 5, "image_tokens": 3, "audio_tokens": 4},
    }
    call = {"type": "function_call", "name": "write", "arguments": "{}"}
    meter = WIRE.meter(False)
    meter.feed(body(**{**A_RESPONSE, "usage": figures, "output": [call], "service_tier": "flex"}))
    assert meter.reading() == Reading(
        usage=Usage(30, 20, cache_read=60, cache_write=10),
        details=UsageDetails(
            reasoning=5, input_image=8, input_audio=9, output_image=3, output_audio=4
        ),
        complete=True,
        stop_reason="completed",
        tools=("write",),
        characters=2,
        tier="flex",
    )


def test_a_response_that_ran_out_of_tokens_says_so() -> None:
    cut = {"reason": "max_output_tokens"}
    response = {**A_RESPONSE, "status": "incomplete", "incomplete_details": cut}
    reading = read({"type": "response.incomplete", "response": response})
    assert (reading.stop_reason, reading.complete) == ("max_output_tokens", True)


def test_a_response_that_failed_is_quoted_and_not_complete() -> None:
    error = {"code": "server_error", "message": "broke"}
    response = {**A_RESPONSE, "status": "failed", "error": error, "usage": None}
    reading = read({"type": "response.failed", "response": response})
    assert (reading.error, reading.complete) == ("server_error: broke", False)


@pytest.mark.parametrize(
    "event",
    [
        pytest.param({"type": "error", "code": "c", "message": "m"}, id="flat"),
        pytest.param({"type": "error", "error": {"code": "c", "message": "m"}}, id="nested"),
    ],
)
def test_an_error_event_is_quoted(event: dict[str, Any]) -> None:
    assert str(read(event).error).endswith(": m")


def test_a_stream_that_was_cut_knows_tools_and_length_but_no_usage() -> None:
    call = {"type": "response.output_item.done", "item": {"type": "function_call", "name": "ls"}}
    reading = read(*RESPONSE_EVENTS[:4], call)
    assert (reading.usage, reading.tools, reading.characters) == (None, ("ls",), 7)


def test_a_scripted_answer_can_run_out_of_tokens() -> None:
    request = WIRE.parse(body(model="m", input="x", stream=True))
    answer = ScriptedAnswer("hi", stop_reason="max_tokens")
    assert WIRE.answer(request, answer)["incomplete_details"] == {"reason": "max_output_tokens"}
    assert b"response.incomplete" in list(WIRE.answer_stream(request, answer))[-1]


def test_scripted_events_are_numbered() -> None:
    request = WIRE.parse(body(model="m", input="x", stream=True))
    lines = b"".join(WIRE.answer_stream(request, ScriptedAnswer("x" * 50))).splitlines()
    numbers = [json.loads(line[6:])["sequence_number"] for line in lines if line[:5] == b"data:"]
    assert numbers == list(range(len(numbers)))


def test_counts_have_openais_shape() -> None:
    assert WIRE.count(3) == {"object": "response.input_tokens", "input_tokens": 3}
