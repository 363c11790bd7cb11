"""The name in a ClientHello: of a real TLS client, cut up, and forged."""

import ssl

import pytest

from builders_egress import client_hello
from proctor.gateway.egress.hello import HelloError, IncompleteError, server_name


def record(payload, kind=22):
    return bytes([kind, 3, 1]) + len(payload).to_bytes(2, "big") + payload


def block(data, size):
    return len(data).to_bytes(size, "big") + data


def a_hello(*extensions, kind=1):
    """A ClientHello by hand."""
    rest = block(b"".join(extensions), 2) if extensions else b""
    body = b"\x03\x03" + b"r" * 32 + block(b"", 1) + block(b"\x13\x01", 2) + block(b"\0", 1) + rest
    return bytes([kind]) + block(body, 3)


def a_name(*names, kind=0):
    entries = b"".join(bytes([kind]) + block(name, 2) for name in names)
    return b"\0\0" + block(block(entries, 2), 2)


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_real_clients_name_is_found(version):
    assert server_name(client_hello("files.pythonhosted.org", version)) == "files.pythonhosted.org"


def test_a_name_is_told_in_lower_case():
    assert server_name(record(a_hello(a_name(b"PyPI.Org")))) == "pypi.org"


def test_every_beginning_of_a_hello_asks_for_more():
    hello = client_hello("pypi.org")
    for length in range(len(hello)):
        with pytest.raises(IncompleteError):
            server_name(hello[:length])


def test_a_hello_in_many_records_is_put_together():
    hello = a_hello(b"\0\x15" + block(b"x" * 500, 2), a_name(b"pypi.org"))
    parts = [hello[at : at + 7] for at in range(0, len(hello), 7)]
    assert server_name(b"".join(record(part) for part in parts)) == "pypi.org"


def test_what_follows_the_hello_is_not_looked_at():
    assert server_name(record(a_hello(a_name(b"pypi.org"))) + b"whatever") == "pypi.org"


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="http"),
        pytest.param(b"SSH-2.0-x\r\n", id="ssh"),
        pytest.param(b"\x80\x2e\x01\x03\x01", id="ssl2"),
        pytest.param(record(a_hello(a_name(b"a.test")), kind=23), id="another-record"),
        pytest.param(b"\x16\x02\x00\x00\x05abcde", id="another-version"),
        pytest.param(record(a_hello(a_name(b"a.test"), kind=2)), id="a-server-hello"),
        pytest.param(record(a_hello()), id="no-extensions"),
        pytest.param(record(a_hello(b"\0\x15" + block(b"", 2))), id="no-name"),
        pytest.param(record(a_hello(a_name(b"a.test", b"b.test"))), id="two-names"),
        pytest.param(record(a_hello(a_name(b"a.test"), a_name(b"b.test"))), id="two-extensions"),
        pytest.param(record(a_hello(a_name(b"a.test", kind=1))), id="another-kind-of-name"),
        pytest.param(record(a_hello("ä.test".encode().join([b"\0\0\0\x0b\0\x09\0\0\x06", b""]))),
                     id="not-ascii-or-wrong-lengths"),
        pytest.param(record(a_hello(b"\0\0" + block(b"\0\xff\0", 2))), id="length-beyond-the-end"),
        pytest.param(record(b"\x01\0\0\x02\x03\x03"), id="cut-inside"),
    ],
)  # fmt: skip
def test_anything_else_is_refused(data):
    with pytest.raises(HelloError):
        server_name(data)
