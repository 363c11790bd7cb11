"""Cassettes are texts that a person can read, and that read back as what was written."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders_cassettes import a_call, a_cassette, answered, asked
from proctor.api.errors import SpecError
from proctor.gateway.cassette import AnsweredCall, AskedCall, Cassette
from proctor.gateway.cassette_text import head_text, parse_cassette
from proctor.gateway.record_writing import arranged, cassette_text

CONVERSATION = a_cassette(
    (asked("Write a.py."), "I write."),
    (asked("Write a.py.", "I write.", "ok"), "Done."),
    (asked("Write b.py."), "I write too."),
)


def test_what_is_written_reads_back_the_same() -> None:
    text = cassette_text(CONVERSATION, "run-1")
    assert parse_cassette(text) == CONVERSATION


def test_a_conversation_that_goes_on_holds_only_what_is_new() -> None:
    second = cassette_text(CONVERSATION, "run-1").split("---\n")[2]
    assert "continues: 1" in second
    assert "Write a.py." not in second


def test_another_conversation_does_not_repeat_system_and_tools() -> None:
    third = cassette_text(CONVERSATION, "run-1").split("---\n")[3]
    assert "like: 1" in third
    assert "Be brief." not in third


def test_texts_of_several_lines_stand_as_they_are() -> None:
    text = cassette_text(a_cassette((asked("one\ntwo"), "x")), "run-1")
    assert "|-\n      one\n      two\n" in text


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=9), inner, max_size=2)
    ),
    max_leaves=5,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(), JSON, JSON.filter(lambda value: value is not None))
def test_any_json_reads_back(text: str, message: object, body: object) -> None:
    call = AskedCall("openai-chat", "generate", {"model": text, "messages": [message, message]})
    longer = AskedCall("openai-chat", "generate", {"model": text, "messages": [message] * 3})
    cassette = Cassette(
        (
            a_call(1, call, AnsweredCall(body=body)),
            a_call(2, longer, AnsweredCall(400, text=text)),
        )
    )
    assert parse_cassette(cassette_text(cassette, "r")) == cassette


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param("a: [", "is not YAML", id="no yaml"),
        pytest.param("rules: []", "is no cassette", id="a script"),
        pytest.param("", "is no cassette", id="empty"),
        pytest.param("cassette: 99", "version 99", id="of a newer version"),
        pytest.param("cassette: 1\n---\n- 1", "is not an object", id="no call"),
        pytest.param("cassette: 1\n---\ncall: 1", "'format' is missing", id="half a call"),
        pytest.param(
            "cassette: 1\n---\n{call: 1, format: soap, request: {}, response: {body: 1}}",
            "format 'soap' is unknown",
            id="an unknown API",
        ),
        pytest.param(
            "cassette: 1\n---\n{call: 2, format: gemini, continues: 1, request: {contents: []}, "
            "response: {body: 1}}",
            "call 1, which is not before it",
            id="a lost reference",
        ),
        pytest.param(
            "cassette: 1\n---\n{call: 1, format: gemini, request: {}, response: {}}",
            "exactly one of body, events, text",
            id="no answer",
        ),
    ],
)
def test_what_is_no_cassette_is_refused(text: str, message: str) -> None:
    with pytest.raises(SpecError, match=message):
        parse_cassette(text, "file")


def test_arranged_calls_stand_by_trial_whichever_ended_first() -> None:
    mixed = Cassette(
        (
            a_call(1, asked("a"), answered(), trial="b/base/0"),
            a_call(2, asked("a"), answered(), trial="a/base/0", role="judge"),
            a_call(3, asked("b"), answered(), trial="a/base/0"),
        )
    )
    order = [(one.number, one.trial, one.role) for one in arranged(mixed).calls]
    assert order == [(1, "a/base/0", "agent"), (2, "a/base/0", "judge"), (3, "b/base/0", "agent")]


def test_calls_of_an_attempt_that_was_lost_are_left_out() -> None:
    lost = a_call(1, asked("a"), answered("lost"))
    kept = a_call(2, asked("a"), answered("kept"), attempt=2)
    assert [c.answered for c in arranged(Cassette((lost, kept))).calls] == [kept.answered]


def test_the_head_names_the_run_that_is_recorded() -> None:
    assert head_text("run-1") == "cassette: 1\nrecording: run-1\n---\n"
