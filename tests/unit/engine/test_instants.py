from datetime import UTC, datetime

import pytest

from proctor.engine.instants import instant, rfc3339


def test_an_instant_is_read_back_as_it_was_written():
    at = datetime(2026, 1, 31, 12, 0, 5, tzinfo=UTC)
    assert instant(rfc3339(at)) == at


def test_an_instant_without_an_offset_is_refused():
    with pytest.raises(ValueError, match="no offset"):
        instant("2026-01-31T12:00:00")
