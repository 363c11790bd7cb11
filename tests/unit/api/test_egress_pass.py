"""Passes for the egress proxy: signed, and over at some time."""

import base64
import json

import pytest

from proctor.api.egress_pass import EgressPass, PassError, read_pass

SECRET = b"s" * 48
PASS = EgressPass("trial-uid", 2, ("pypi.org", "a.test:8443"), expires_at=1000)


def test_a_pass_says_what_was_signed():
    assert read_pass(PASS.signed(SECRET), SECRET, now=999.9) == PASS


def test_a_pass_ends():
    with pytest.raises(PassError, match="over"):
        read_pass(PASS.signed(SECRET), SECRET, now=1000)


def forged(**changes):
    """Other content under an old signature."""
    content, _, signature = PASS.signed(SECRET).partition(".")
    body = json.loads(base64.urlsafe_b64decode(content + "=" * (-len(content) % 4)))
    text = json.dumps({**body, **changes}, separators=(",", ":"))
    return f"{base64.urlsafe_b64encode(text.encode()).decode().rstrip('=')}.{signature}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(forged(hosts=["evil.test"]), id="other-hosts"),
        pytest.param(forged(expires_at=10**12), id="for-ever"),
        pytest.param(PASS.signed(b"another secret of somebody"), id="another-secret"),
        pytest.param(PASS.signed(SECRET)[:-4], id="cut"),
        pytest.param("", id="empty"),
        pytest.param(".", id="a-dot"),
        pytest.param("not base64!.neither", id="garbage"),
        pytest.param("ä.ö", id="not-ascii"),
    ],
)
def test_what_was_not_signed_opens_nothing(text):
    with pytest.raises(PassError) as caught:
        read_pass(text, SECRET, now=0)
    assert "evil" not in str(caught.value)
