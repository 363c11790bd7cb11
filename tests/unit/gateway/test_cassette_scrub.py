"""What is secret, or looks like a key, does not stand in a cassette."""

import pytest

from proctor.gateway.cassette_scrub import SECRET, scrubbed


@pytest.mark.parametrize(
    "key",
    [
        pytest.param("sk-ant-api03-" + "a" * 24, id="anthropic"),
        pytest.param("sk-proj-" + "a" * 24, id="openai"),
        pytest.param("AIza" + "x" * 35, id="google"),
        pytest.param("ghp_" + "a" * 36, id="github"),
        pytest.param("github_pat_" + "a" * 30, id="github, fine-grained"),
        pytest.param("glpat-" + "a" * 20, id="gitlab"),
        pytest.param("xoxb-123456789012-abc", id="slack"),
        pytest.param("AKIA" + "A" * 16, id="aws"),
        pytest.param("hf_" + "a" * 34, id="hugging face"),
        pytest.param("eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJrdWJlIn0.c2lnbmF0dXJl", id="a token"),
        pytest.param("proctor-agent-" + "a" * 40, id="our own"),
        pytest.param(
            "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", id="private key"
        ),
    ],
)
def test_what_looks_like_a_key_is_taken_out(key: str) -> None:
    assert scrubbed({"a": [f"use {key} now"]}) == {"a": [f"use {SECRET} now"]}


def test_known_values_are_taken_out_wherever_they_stand() -> None:
    assert scrubbed({"my-own-key": "x my-own-key"}, ["my-own-key"]) == {SECRET: f"x {SECRET}"}


def test_a_bearer_keeps_its_scheme() -> None:
    assert scrubbed("Authorization: Bearer abcdefghijklmnop") == f"Authorization: Bearer {SECRET}"


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("task-management-of-many-things", id="words with sk-"),
        pytest.param("token = tokenizer.next_token()", id="code"),
        pytest.param("abc", id="a short value"),
    ],
)
def test_other_text_stays(text: str) -> None:
    assert scrubbed(text, ["abc"]) == text
