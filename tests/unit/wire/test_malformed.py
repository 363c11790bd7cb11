import pytest

from proctor.wire.malformed import malformed

PARTS = [b"data: one\n\n", b"data: two\n\n", b"data: three\n\n"]


@pytest.mark.parametrize(
    ("kind", "parts", "events", "expected"),
    [
        pytest.param("truncated", PARTS, True, b"data: one\n\ndata: ", id="cut-in-an-event"),
        pytest.param("unfinished", PARTS, True, b"data: one\n\n", id="events-are-missing"),
        pytest.param("unfinished", [b'{"a": 1}'], False, b'{"a"', id="half-a-body"),
        pytest.param("empty", PARTS, True, b"", id="empty"),
    ],
)
def test_an_answer_is_broken_as_asked(
    kind: str, parts: list[bytes], events: bool, expected: bytes
) -> None:
    assert b"".join(malformed(kind, parts, events=events)) == expected


@pytest.mark.parametrize(
    "events", [pytest.param(True, id="events"), pytest.param(False, id="body")]
)
def test_what_is_no_json_looks_like_a_proxys_page(events: bool) -> None:
    (data,) = malformed("not-json", PARTS, events=events)
    assert b"<html>" in data
    assert data.startswith(b"data: ") is events
