import base64
import json

import pytest

from proctor.api.errors import PlatformError
from proctor.runner.expiry import expiry, require_lifetime


def a_token(**claims):
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    return f"header.{body}.signature"


def test_a_token_that_outlives_the_phase_is_good():
    require_lifetime(a_token(exp=1000), now=400, seconds=600)


def test_a_token_that_the_cluster_cut_short_is_refused_with_a_remedy():
    with pytest.raises(PlatformError, match="ends in 599 s, but the phase may take 600 s"):
        require_lifetime(a_token(exp=999), now=400, seconds=600)


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("random-local-key", id="no-token"),
        pytest.param("a.b.c", id="not-base64-json"),
        pytest.param("a.WzFd.c", id="claims-are-no-object"),
        pytest.param(a_token(iat=5), id="no-end-given"),
    ],
)
def test_a_key_that_names_no_end_has_none(key):
    assert expiry(key) is None
    require_lifetime(key, now=0, seconds=10**9)
