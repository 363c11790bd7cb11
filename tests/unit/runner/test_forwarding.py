"""The gateway's socket as a port: between the runner's end and the launcher's."""

import asyncio
import socket
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from proctor.local.gateway_socket import MOST_CONNECTIONS, gateway_socket
from proctor.runner.forwarding import forward
from proctor.runner.places import NotStartedError


def a_free_url():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return f"http://127.0.0.1:{listener.getsockname()[1]}"


async def answered(url, said):
    """What comes back until the end, when this is said and no more."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(url).port)
    writer.write(said)
    await writer.drain()
    writer.write_eof()
    with closing(writer):
        return await asyncio.wait_for(reader.read(), 30)


@pytest.fixture
async def echo():
    """A server that says everything back once its client has said all."""

    async def serve(reader, writer):
        writer.write(await reader.read())
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    server.close()


async def test_bytes_go_both_ways_through_socket_and_port(echo):
    async with gateway_socket(echo) as path:
        url = a_free_url()
        forward(url, path)
        body = bytes(range(256)) * 8192
        answers = await asyncio.gather(*(answered(url, body) for _ in range(8)))
        assert answers == [body] * 8


async def test_a_gateway_that_is_gone_ends_the_connection(echo):
    async with gateway_socket(a_free_url()) as path:
        url = a_free_url()
        forward(url, path)
        assert await answered(url, b"") == b""


def test_a_socket_that_nobody_listens_at_is_told_before_the_agent_starts(tmp_path):
    with pytest.raises(NotStartedError, match="gateway"):
        forward(a_free_url(), tmp_path / "gateway.sock")


async def test_a_port_that_is_taken_is_told_before_the_agent_starts(echo):
    async with gateway_socket(echo) as path:
        with pytest.raises(NotStartedError, match="in use"):
            forward(echo, path)


async def test_the_sockets_folder_is_the_users_alone_and_gone_in_the_end(echo):
    async with gateway_socket(echo) as path:
        assert path.parent.stat().st_mode & 0o077 == 0
    assert not path.parent.exists()


async def ended(reader, writer):
    """What comes back when no more is said."""
    if writer.can_write_eof():
        writer.write_eof()
    said = await asyncio.wait_for(reader.read(), 30)
    writer.close()
    await writer.wait_closed()
    return said


async def test_an_agent_that_opens_more_than_it_may_takes_nobody_elses_way(echo):
    async with gateway_socket(echo) as own, gateway_socket(echo) as others:
        opened = [await asyncio.open_unix_connection(own) for _ in range(MOST_CONNECTIONS)]
        for _, writer in opened:
            writer.write(b"x")
            await writer.drain()
        refused, writer = await asyncio.open_unix_connection(own)
        assert await asyncio.wait_for(refused.read(), 30) == b""
        writer.close()
        reader, writer = await asyncio.open_unix_connection(others)
        writer.write(b"hello")
        assert await ended(reader, writer) == b"hello"
        assert {await ended(*one) for one in opened} == {b"x"}
