"""Secrets are taken out of texts by value, whatever form they have."""

import base64
import json
import re
import tracemalloc
from urllib.parse import quote

import pytest

from proctor.api.redaction import Redactor, StreamRedactor, secrets_of

SECRET = 'p@ss/w"ord+42'
REDACTOR = Redactor({"DB_PASSWORD": SECRET})


URL = quote(SECRET, safe="")


def a_token(audience):
    parts = ({"alg": "RS256", "kid": "k"}, {"aud": audience, "sub": "system:serviceaccount:a:b"})
    texts = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    head, body = (text.rstrip("=") for text in texts)
    return f"{head}.{body}.{'s' * 43}"


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(SECRET, id="plain"),
        pytest.param(json.dumps(SECRET)[1:-1], id="json"),
        pytest.param(json.dumps(json.dumps(SECRET))[3:-3], id="json-in-json"),
        pytest.param(URL, id="url"),
        pytest.param(re.sub("%..", lambda hexes: hexes[0].lower(), URL), id="url-lower"),
        pytest.param(SECRET.encode().hex(), id="hex"),
    ],
)
def test_a_value_is_replaced_by_its_name_in_every_form(form):
    assert REDACTOR.text(f"before {form} after") == "before [redacted:DB_PASSWORD] after"


@pytest.mark.parametrize("before", [b"", b"u", b"us", b"use", b"user:"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_is_found_at_every_offset_and_still_decodes(before, encode):
    text = encode(before + SECRET.encode() + b"!").decode()
    redacted = REDACTOR.text(text)
    assert len(redacted) == len(text)
    assert SECRET[1:-1].encode() not in base64.urlsafe_b64decode(
        redacted.replace("+", "-").replace("/", "_")
    )


def test_white_space_around_a_value_is_not_part_of_it():
    assert Redactor({"A": "s3cr3t-value\n"}).text("s3cr3t-value") == "[redacted:A]"


def test_each_long_line_of_a_value_counts():
    key = "-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEF\n-----END KEY-----\n"
    assert "MIIEvQ" not in Redactor({"K": key}).text("grep: MIIEvQIBADANBgkqhkiG9w0BAQEF")


def test_a_value_that_was_cut_off_is_no_way_out():
    assert REDACTOR.text(f"… {SECRET[:-2]}") == "… [redacted]"
    assert REDACTOR.text(f"{SECRET[3:]} and more") == "[redacted] and more"


def test_other_texts_stay_as_they_are():
    text = "a password has p, 42 and eyJ in it"
    assert REDACTOR.text(text) == text
    assert Redactor({}).text(text) == text


def test_a_value_of_five_characters_is_not_looked_for():
    assert Redactor({"PIN": "12345"}).text("12345") == "12345"


@pytest.mark.parametrize(
    ("audience", "found"),
    [
        pytest.param(["proctor-gateway-agent"], True, id="ours"),
        pytest.param("proctor-results", True, id="ours-alone"),
        pytest.param(["https://kubernetes.default.svc"], False, id="another"),
    ],
)
def test_tokens_of_our_audiences_are_found_without_knowing_them(audience, found):
    token = a_token(audience)
    assert REDACTOR.text(f"key={token}.") == ("key=[redacted:token]." if found else f"key={token}.")


def test_json_stays_json_and_numbers_stay():
    redactor = Redactor({"PIN": "123456", "P": SECRET})
    data = json.dumps({"tokens": 123456, "said": "pin 123456", "more": [f"{SECRET}é"]}).encode()
    assert json.loads(redactor.json(data)) == {
        "tokens": 123456,
        "said": "pin [redacted:PIN]",
        "more": ["[redacted:P]é"],
    }


@pytest.mark.parametrize(
    "form",
    [
        pytest.param(SECRET, id="plain"),
        pytest.param(URL, id="url"),
        pytest.param(SECRET.encode().hex(), id="hex"),
        pytest.param(base64.b64encode(f"user:{SECRET}".encode()).decode(), id="base64"),
    ],
)
def test_what_a_command_printed_is_redacted_in_every_form_though_evidence_encodes_it(form):
    """``curl -v`` shows a proxy's password in base64, and evidence holds that in base64 again."""
    printed = f"> Authorization: Basic {form}\n"
    body = {"stderr": base64.b64encode(printed.encode()).decode(), "seconds": 1}

    kept = json.loads(REDACTOR.json(json.dumps(body).encode()))

    said = base64.b64decode(kept["stderr"], validate=True)
    assert said.startswith(b"> Authorization: Basic ")
    assert form.encode() not in said
    assert kept["seconds"] == 1


def test_values_in_the_base64_of_json_leave_it_decodable():
    body = {"stdout": base64.b64encode(f"got {SECRET}\n".encode()).decode()}
    redacted = json.loads(REDACTOR.json(json.dumps(body).encode()))
    assert SECRET[1:-1].encode() not in base64.b64decode(redacted["stdout"], validate=True)


def test_json_without_a_secret_is_not_touched():
    data = b'{"a": 1}\nno json at all'
    assert REDACTOR.json(data) is data


@pytest.mark.parametrize("size", [1, 2, 5, 7, 100])
def test_a_value_is_found_however_a_stream_is_cut(size):
    text = f"one {SECRET} two p@ss three {SECRET}"
    stream = StreamRedactor(REDACTOR)
    pieces = [stream.feed(text[at : at + size]) for at in range(0, len(text), size)]
    assert "".join([*pieces, stream.end()]) == (
        "one [redacted:DB_PASSWORD] two p@ss three [redacted:DB_PASSWORD]"
    )


def test_what_cannot_be_the_beginning_of_a_value_passes_at_once():
    assert StreamRedactor(REDACTOR).feed("hello ") == "hello "


def test_secrets_of_a_process_are_found_by_their_prefix():
    assert secrets_of({"PROCTOR_SECRET_A": "x", "PATH": "/bin"}) == {"A": "x"}


# Looking for texts in JSON took 115 bytes for each one of a text: an agent that printed a long one,
# with a secret in it, took the memory of the phase that redacts it.
def test_a_long_text_takes_little_more_memory_than_itself():
    data = b'["' + b"x" * 1_000_000 + b' secret-value"]'
    redactor = Redactor({"KEY": "secret-value"})
    tracemalloc.start()
    try:
        redacted = redactor.json(data)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert redacted.endswith(b' [redacted:KEY]"]')
    assert peak < 8 * len(data)


def test_a_text_that_was_cut_off_is_redacted_too():
    redactor = Redactor({"KEY": "secret-value"})
    assert redactor.json(b'["a", "secret-value and') == b'["a", "[redacted:KEY] and'
