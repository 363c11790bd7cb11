from datetime import UTC, datetime, timedelta

import pytest

from proctor.gateway.hints import Window, duration_seconds, retry_after_seconds, windows
from proctor.gateway.retries import Retries

NOW = datetime(2026, 10, 21, 7, 27, 30, tzinfo=UTC)
RETRIES = Retries(attempts=2, base_seconds=0.5, longest_seconds=20)


@pytest.mark.parametrize(
    ("attempt", "asked", "chance", "seconds"),
    [
        pytest.param(0, None, 0.0, 0.5, id="first"),
        pytest.param(1, None, 0.0, 1.0, id="doubled"),
        pytest.param(1, None, 1.0, 1.25, id="spread"),
        pytest.param(2, None, 0.0, None, id="enough"),
        pytest.param(0, 7.0, 1.0, 7.0, id="as-the-provider-says"),
        pytest.param(0, 20.1, 0.0, None, id="longer-than-we-wait"),
    ],
)
def test_how_long_to_wait_before_asking_again(
    attempt: int, asked: float | None, chance: float, seconds: float | None
) -> None:
    assert RETRIES.wait_seconds(attempt, asked, chance) == seconds


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 529])
def test_statuses_that_another_attempt_may_change(status: int) -> None:
    assert RETRIES.after_answer(0, status, None) == 0.5


@pytest.mark.parametrize("status", [200, 307, 400, 401, 402, 403, 404, 413, 422])
def test_statuses_that_it_may_not(status: int) -> None:
    assert RETRIES.after_answer(0, status, 1.0) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"retry-after": "7"}, 7.0, id="seconds"),
        pytest.param({"retry-after": "1.5"}, 1.5, id="fraction"),
        pytest.param({"retry-after": "7", "retry-after-ms": "250"}, 0.25, id="milliseconds-win"),
        pytest.param({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0, id="date"),
        pytest.param({"retry-after": "Wed, 21 Oct 2020 07:28:00 GMT"}, 0.0, id="date-in-the-past"),
        pytest.param({"retry-after": "-3"}, None, id="negative"),
        pytest.param({"retry-after": "soon"}, None, id="no-time"),
        pytest.param({"retry-after": "nan"}, None, id="no-number"),
        pytest.param(
            {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"},
            360.0,
            id="openai-used-up",
        ),
        pytest.param(
            {"x-ratelimit-remaining-tokens": "900", "x-ratelimit-reset-tokens": "20ms"},
            None,
            id="openai-not-used-up",
        ),
        pytest.param(
            {
                "anthropic-ratelimit-output-tokens-remaining": "0",
                "anthropic-ratelimit-output-tokens-reset": "2026-10-21T07:27:41Z",
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-requests-reset": "2026-10-21T07:29:00Z",
            },
            11.0,
            id="anthropic-used-up",
        ),
    ],
)
def test_how_long_a_provider_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_seconds(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1.0),
        ("6m0s", 360.0),
        ("20ms", 0.02),
        ("1h2m3.5s", 3723.5),
        ("12", 12.0),
        ("", None),
        ("1 s", None),
        ("x1s", None),
        ("1e99", None),
    ],
)
def test_durations_as_providers_write_them(text: str, seconds: float | None) -> None:
    assert duration_seconds(text) == seconds


def test_both_makers_limits_are_read() -> None:
    reset = (NOW + timedelta(seconds=5)).isoformat()
    headers = {
        "x-ratelimit-limit-tokens": "1000",
        "x-ratelimit-remaining-tokens": "10",
        "x-ratelimit-reset-tokens": "2s",
        "anthropic-ratelimit-input-tokens-limit": "50",
        "anthropic-ratelimit-input-tokens-remaining": "40",
        "anthropic-ratelimit-input-tokens-reset": reset,
        "anthropic-ratelimit-tokens-remaining": "40",
        "anthropic-ratelimit-tokens-reset": "yesterday",
    }
    assert list(windows(headers, NOW)) == [
        Window("tokens", "tokens", 10, 1000, 2.0),
        Window("input-tokens", "tokens", 40, 50, 5.0),
    ]
