"""The egress proxy over real sockets, with an internet of its own."""

import asyncio
import contextlib
import logging
import socket
import struct
import sys

import pytest

from builders_egress import (
    OTHER,
    PRIVATE,
    PUBLIC,
    Client,
    Internet,
    a_pass,
    client_hello,
    connect_head,
)
from proctor.gateway.egress.tunnel import Patience
from proctor.serving.logs import FIELDS

IMPATIENT = Patience(head=0.2, connect=0.2, idle=5.0)


@contextlib.asynccontextmanager
async def proxy(patience=None, **names):
    internet = Internet({"pypi.org": [PUBLIC], "other.test": [OTHER], **names})
    async with internet.running(patience or Patience()) as client:
        yield internet, client


@pytest.fixture
def said(caplog):
    caplog.set_level(logging.INFO, "proctor.gateway.egress")
    return lambda: [(one.getMessage(), getattr(one, FIELDS, {})) for one in caplog.records]


async def test_a_named_host_is_reached_and_every_byte_carried(said):
    hello = client_hello("pypi.org")
    async with proxy() as (internet, client):
        status, back = await client.connect("pypi.org:443", a_pass("pypi.org"), hello + b"more")
    assert status == 200
    assert internet.heard == hello + b"more"
    assert back.replace(b"echo:", b"") == hello + b"more"
    assert internet.connected == [(PUBLIC, 443)]
    ((message, fields),) = said()
    assert message == "carried"
    assert (fields["trial_uid"], fields["host"], fields["address"]) == (
        "trial-uid",
        "pypi.org",
        PUBLIC,
    )


async def test_a_port_that_is_listed_is_reached_and_443_is_not_then():
    async with proxy() as (internet, client):
        leave = a_pass("pypi.org:8443")
        assert (await client.connect("pypi.org:8443", leave, client_hello("pypi.org")))[0] == 200
        assert (await client.connect("pypi.org:443", leave))[0] == 403
    assert internet.connected == [(PUBLIC, 8443)]


async def test_a_hello_in_pieces_is_waited_for():
    hello = client_hello("pypi.org")
    async with proxy() as (internet, client):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(connect_head("pypi.org:443", a_pass("pypi.org")))
        await reader.readuntil(b"\r\n\r\n")
        for at in range(0, len(hello), 100):
            writer.write(hello[at : at + 100])
            await writer.drain()
            await asyncio.sleep(0)
        assert await reader.readexactly(5) == b"echo:"
        writer.close()
    assert internet.heard.startswith(hello[:100])


@pytest.mark.parametrize(
    ("target", "leave", "status", "reason"),
    [
        pytest.param("other.test:443", a_pass("pypi.org"), 403, "other.test:443", id="not-listed"),
        pytest.param("pypi.org:22", a_pass("pypi.org"), 403, "pypi.org:22", id="another-port"),
        pytest.param("a.pypi.org:443", a_pass("pypi.org"), 403, "a.pypi.org", id="a-sub-domain"),
        pytest.param("pypi.org.:443", a_pass("pypi.org"), 403, "pypi.org.", id="final-dot"),
        pytest.param("pypi.org:443", None, 407, "no pass", id="no-pass"),
        pytest.param("pypi.org:443", "made-up", 407, "not", id="made-up"),
        pytest.param(
            "pypi.org:443", a_pass("pypi.org", secret=b"x" * 48), 407, "signed", id="other-secret"
        ),
        pytest.param(
            "pypi.org:443", a_pass("pypi.org", expires_at=0), 407, "over", id="a-pass-that-is-over"
        ),
        pytest.param("93.184.216.34:443", a_pass("pypi.org"), 403, "93.184", id="an-address"),
        pytest.param("gone.test:443", a_pass("gone.test"), 502, "no such name", id="unknown-name"),
    ],
)
async def test_everything_else_is_refused_with_a_reason_and_logged(
    target, leave, status, reason, said
):
    async with proxy() as (internet, client):
        found, text = await client.connect(target, leave)
    assert (found, reason in text.decode()) == (status, True)
    assert internet.connected == []
    assert [message.startswith("refused: ") for message, _ in said()] == [True]


@pytest.mark.parametrize(
    ("head", "status"),
    [
        pytest.param(b"GET http://pypi.org/ HTTP/1.1\r\n\r\n", b"405", id="plain-http"),
        pytest.param(b"CONNECT [::1]:443 HTTP/1.1\r\n\r\n", b"405", id="an-ipv6-address"),
        pytest.param(b"CONNECT pypi.org HTTP/1.1\r\n\r\n", b"405", id="no-port"),
        pytest.param(b"\xff\xfe\r\n\r\n", b"400", id="binary"),
        pytest.param(b"CONNECT a:1 HTTP/1.1\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", b"431",
                     id="a-long-head"),
    ],
)  # fmt: skip
async def test_only_connect_is_served(head, status):
    async with proxy() as (_, client):
        answer, _ = await client.say(head)
    assert answer.split()[1] == status


async def test_the_challenge_names_its_scheme():
    async with proxy() as (_, client):
        answer, _ = await client.say(connect_head("pypi.org:443", None))
    assert b'Proxy-Authenticate: Basic realm="proctor"' in answer


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(client_hello("other.test"), id="another-name"),
        pytest.param(b"GET / HTTP/1.1\r\nHost: pypi.org\r\n\r\n", id="plain-http"),
        pytest.param(b"SSH-2.0-OpenSSH_9\r\n", id="ssh"),
        pytest.param(client_hello("pypi.org")[:40], id="cut"),
        pytest.param(b"", id="silence"),
    ],
)
async def test_no_byte_passes_before_tls_names_the_host_of_the_connect(first, said):
    async with proxy() as (internet, client):
        status, back = await client.connect("pypi.org:443", a_pass("pypi.org"), first)
    assert (status, back, internet.heard) == (200, b"", b"")
    assert [message.startswith("refused: the connection to pypi.org") for message, _ in said()] == [
        True
    ]


@pytest.mark.parametrize(
    "address",
    [
        pytest.param(PRIVATE, id="private"),
        pytest.param("169.254.169.254", id="metadata"),
        pytest.param("127.0.0.1", id="itself"),
        pytest.param("::1", id="itself-v6"),
        pytest.param("::ffff:10.0.0.1", id="in-disguise"),
        pytest.param("fe80::1", id="link-local"),
    ],
)
async def test_a_name_that_leads_inside_is_refused(address):
    async with proxy(**{"pypi.org": [address]}) as (internet, client):
        status, text = await client.connect("pypi.org:443", a_pass("pypi.org"))
    assert (status, internet.connected) == (403, [])
    assert b"no public address" in text


async def test_a_name_is_looked_up_once_and_only_its_public_address_is_used():
    hello = client_hello("pypi.org")
    async with proxy(**{"pypi.org": [PRIVATE, PUBLIC]}) as (internet, client):
        await client.connect("pypi.org:443", a_pass("pypi.org"), hello)
    assert internet.looked_up == ["pypi.org"]
    assert internet.connected == [(PUBLIC, 443)]


async def test_a_client_that_says_nothing_is_let_go(said):
    async with proxy(IMPATIENT) as (_, client):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        assert await reader.read() == b""
        writer.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(connect_head("pypi.org:443", a_pass("pypi.org")))
        await reader.readuntil(b"\r\n\r\n")
        assert await reader.read() == b""
        writer.close()
    assert [message for message, _ in said()] == ["ended: TimeoutError"] * 2


async def test_a_probe_that_connects_and_closes_is_no_news(said):
    # The kubelet's readiness probe stood in the log every few seconds, as IncompleteReadError.
    async with proxy() as (_, client):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
        _, writer = await asyncio.open_connection("127.0.0.1", client.port)
        at_once = struct.pack("ii", 1, 0)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
        writer.close()
        await client.connect("pypi.org:443", None)
    assert [message for message, _ in said()] == ["refused: no pass was sent"]


async def test_a_client_that_breaks_off_in_the_middle_of_its_request_is_logged(said):
    async with proxy() as (_, client):
        reader, writer = await asyncio.open_connection("127.0.0.1", client.port)
        writer.write(b"C")
        writer.write_eof()
        assert await reader.read() == b""
        writer.close()
    assert [message for message, _ in said()] == ["ended: IncompleteReadError"]


async def test_no_pass_is_ever_logged(said):
    leave = a_pass("pypi.org")
    async with proxy() as (_, client):
        await client.connect("pypi.org:443", leave, client_hello("pypi.org"))
        await client.connect("other.test:443", leave)
    assert leave not in str(said())
    assert leave.partition(".")[2] not in str(said())


async def test_the_process_listens_and_refuses_what_it_must(tmp_path):
    (tmp_path / "key").write_bytes(b"k" * 48)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor.gateway.egress", "--host=127.0.0.1", "--port=0"),
        f"--secret-file={tmp_path / 'key'}",
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        line = await process.stderr.readline()
        client = Client(int(line.rpartition(b"port ")[2].split(b'"')[0]))
        inside = a_pass("localhost.localdomain", expires_at=10**11, secret=b"k" * 48)
        assert (await client.connect("pypi.org:443", None))[0] == 407
        assert (await client.connect("pypi.org:443", inside))[0] == 403
        process.terminate()
        _, log = await asyncio.wait_for(process.communicate(), 30)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()
    assert process.returncode == 0
    assert log.count(b"refused: ") == 2


async def test_a_secret_that_is_missing_ends_the_process_with_its_name(tmp_path):
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "proctor.gateway.egress", "--port=0"),
        f"--secret-file={tmp_path / 'none'}",
        stderr=asyncio.subprocess.PIPE,
    )
    _, errors = await process.communicate()
    assert process.returncode == 1
    assert str(tmp_path / "none").encode() in errors
