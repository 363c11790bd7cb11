from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.agents.output import Capture, LiveText

CHUNKS = st.lists(st.binary(max_size=12), max_size=8)


@settings(deadline=None)
@given(CHUNKS, st.integers(2, 30))
def test_a_capture_keeps_both_ends_within_its_limit(chunks, limit):
    capture, data = Capture(limit), b"".join(chunks)
    for chunk in chunks:
        capture.feed(chunk)
    half = limit // 2
    if len(data) <= 2 * half:
        assert capture.text() == data.decode(errors="replace")
    else:
        assert capture.text() == (
            data[:half].decode(errors="replace")
            + f"\n[… {len(data) - 2 * half} bytes left out …]\n"
            + data[-half:].decode(errors="replace")
        )


@settings(deadline=None)
@given(st.text(max_size=30), st.integers(1, 5))
def test_live_text_survives_any_chunking(text, size):
    data, live = text.encode(), LiveText(1000)
    parts = [live.feed(data[start : start + size]) for start in range(0, len(data), size)]
    assert "".join(parts) == text


def test_live_text_falls_silent_at_its_limit_and_says_so_once():
    live = LiveText(5)
    assert [live.feed(b"abc"), live.feed(b"def"), live.feed(b"ghi")] == [
        "abc",
        "de\n[… the rest is left out …]\n",
        "",
    ]
