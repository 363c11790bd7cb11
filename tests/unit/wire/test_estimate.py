import pytest

from proctor.api.usage import Usage
from proctor.wire.estimate import estimate
from proctor.wire.format import ModelRequest, Reading

REQUEST = ModelRequest("m", ("x" * 30,), "y" * 11)


@pytest.mark.parametrize(
    ("reading", "usage"),
    [
        pytest.param(Reading(characters=10), Usage(11, 3), id="nothing-told"),
        pytest.param(
            Reading(usage=Usage(100, 1, cache_read=7), characters=10),
            Usage(100, 3, cache_read=7),
            id="input-told",
        ),
        pytest.param(Reading(usage=Usage(0, 9), characters=10), Usage(11, 9), id="more-told"),
        pytest.param(Reading(usage=Usage(cache_read=9)), Usage(cache_read=9), id="all-cached"),
    ],
)
def test_a_broken_answer_is_estimated_from_what_was_told_and_seen(
    reading: Reading, usage: Usage
) -> None:
    estimated = estimate(reading, REQUEST)
    assert (estimated.usage, estimated.estimated, estimated.complete) == (usage, True, False)


def test_final_figures_stay() -> None:
    reading = Reading(usage=Usage(1, 1), characters=400, complete=True)
    assert estimate(reading, REQUEST) == reading
