import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.wire.sse import MAX_EVENT_BYTES, EventParser, event, event_ends

STREAM = 'event: a\ndata: {"x":"Grüße 🎈"}\n\n: ping\n\ndata: one\ndata: two\n\n'.encode()
DATA = ['{"x":"Grüße 🎈"}', "one\ntwo"]


def read(*chunks: bytes) -> list[str]:
    parser = EventParser()
    return [data for chunk in chunks for data in parser.feed(chunk)]


@pytest.mark.parametrize(
    "end",
    [pytest.param(b"\n", id="lf"), pytest.param(b"\r\n", id="crlf"), pytest.param(b"\r", id="cr")],
)
def test_events_are_read_with_each_line_end(end: bytes) -> None:
    # A lone carriage return at the very end may still become a CRLF, hence one line more.
    assert read(STREAM.replace(b"\n", end) + b": more" + end) == DATA


@given(st.lists(st.integers(0, len(STREAM)), max_size=6))
def test_events_do_not_depend_on_how_the_bytes_were_cut(places: list[int]) -> None:
    cuts = [0, *sorted(places), len(STREAM)]
    assert read(*(STREAM[a:b] for a, b in itertools.pairwise(cuts))) == DATA


@given(st.lists(st.integers(0, 200), max_size=6))
def test_crlf_may_be_cut_in_two(places: list[int]) -> None:
    stream = STREAM.replace(b"\n", b"\r\n")
    cuts = [0, *sorted(places), len(stream) + 200]
    assert read(*(stream[a:b] for a, b in itertools.pairwise(cuts))) == DATA


def test_an_event_without_its_end_is_not_given() -> None:
    assert read(b"data: half") == []


def test_an_event_larger_than_the_limit_is_skipped_and_the_next_one_read() -> None:
    piece = b"x" * (1024 * 1024)
    line = [b"data: ", *[piece] * (MAX_EVENT_BYTES // len(piece) + 1), b"\n\n"]
    assert read(*line, b"data: next\n\n") == ["next"]


def test_many_lines_of_one_event_count_together() -> None:
    line = b"data: " + b"x" * (1024 * 1024) + b"\n"
    lines = [line] * (MAX_EVENT_BYTES // len(line) + 2)
    assert read(*lines, b"\n", b"data: next\n\n") == ["next"]


def test_bytes_that_are_no_utf8_become_replacement_characters() -> None:
    assert read(b"data: \xff\n\n") == ["�"]


def test_a_written_event_is_read_back() -> None:
    assert read(event({"a": "ä"}, "name")) == ['{"a":"ä"}']
    assert event({}).startswith(b"data: ")


def test_ends_of_events_are_found() -> None:
    assert event_ends(b"data: a\n\ndata: b\r\n\r\ndata") == [9, 20]
