"""How ``loop`` hands hidden orders to the runner in ``agent``: once, and both prove who they are.

All containers of a pod share its network, so anybody in it can connect to the port of ``loop``, or
take it when ``loop`` is gone; without a network, whoever is in the agent's container can connect to
its socket. Each side therefore shows that it knows a secret: ``loop`` makes it,
the runner reads and unlinks it before any code of the task or the agent runs. One request, one
answer::

    nonce (32 hexadecimal digits), space, HMAC (64), newline
    length (8 digits), HMAC over nonce and body (64), body
"""

import hashlib
import hmac
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

from proctor.api.errors import PlatformError
from proctor.runner.places import LoopAddress

SECRET = "secret"
HOST = "127.0.0.1"
REQUEST_BYTES = 32 + 1 + 64 + 1
_HEADER_BYTES = 8 + 64
_MOST_BYTES = 16 * 1024 * 1024
_SECRET_SECONDS = 30.0
CONNECT_SECONDS = 60.0
_ANSWER_SECONDS = 600.0
_PAUSE_SECONDS = 0.05


class HandoverError(PlatformError):
    """``loop`` did not hand over what it should; the message says why."""


def take_secret(handshake: Path) -> bytes:
    """Read the secret and remove it, before anybody else can look.

    Raises:
        HandoverError: When ``loop`` has not made one within 30 s.
        OSError: When it cannot be read or removed.
    """
    path = handshake / SECRET
    deadline = time.monotonic() + _SECRET_SECONDS
    while not path.exists():
        if time.monotonic() > deadline:
            raise HandoverError(f"loop made no secret within {_SECRET_SECONDS:g} s")
        time.sleep(_PAUSE_SECONDS)
    secret = path.read_bytes()
    os.unlink(path)
    return secret


def ask(at: LoopAddress, secret: bytes, connect_seconds: float = CONNECT_SECONDS) -> dict[str, Any]:
    """What ``loop`` hands over, as a JSON object.

    Raises:
        HandoverError: When it is silent, cannot be reached, is somebody else, or refuses.
    """
    nonce = os.urandom(16).hex().encode()
    try:
        with _connected(at, connect_seconds) as connection:
            connection.settimeout(_ANSWER_SECONDS)
            connection.sendall(request(secret, nonce))
            header = _read(connection, _HEADER_BYTES)
            length = int(header[:8])
            body = _read(connection, length) if length <= _MOST_BYTES else b""
    except (OSError, ValueError) as error:
        raise HandoverError(f"loop did not answer: {type(error).__name__}: {error}") from error
    if not hmac.compare_digest(header[8:], _proof(secret, b"answer", nonce + body)):
        raise HandoverError("loop could not prove who it is: somebody else has its port")
    answer = json.loads(body)
    if "problem" in answer:
        raise HandoverError(f"loop refused: {answer['problem']}")
    return dict(answer)


def request(secret: bytes, nonce: bytes) -> bytes:
    """The line that asks."""
    return nonce + b" " + _proof(secret, b"request", nonce) + b"\n"


def nonce_of(line: bytes, secret: bytes) -> bytes | None:
    """The nonce of a request; None when whoever wrote it does not know the secret."""
    nonce, _, proof = line.rstrip(b"\n").partition(b" ")
    genuine = hmac.compare_digest(proof, _proof(secret, b"request", nonce))
    return nonce if genuine and len(line) == REQUEST_BYTES else None


def answer(secret: bytes, nonce: bytes, body: bytes) -> bytes:
    """The answer to the request with this nonce."""
    return b"%08d" % len(body) + _proof(secret, b"answer", nonce + body) + body


def _proof(secret: bytes, purpose: bytes, data: bytes) -> bytes:
    return hmac.new(secret, purpose + b" " + data, hashlib.sha256).hexdigest().encode()


def _connected(at: LoopAddress, seconds: float) -> socket.socket:
    """A connection; what the agent left in the queue takes ``loop`` a while."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return _connect(at, seconds)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(_PAUSE_SECONDS)


def _connect(at: LoopAddress, seconds: float) -> socket.socket:
    if isinstance(at, int):
        return socket.create_connection((HOST, at), timeout=seconds)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(str(at))
    except OSError:
        connection.close()
        raise
    return connection


def _read(connection: socket.socket, count: int) -> bytes:
    """Exactly this many bytes."""
    data = bytearray()
    while len(data) < count:
        chunk = connection.recv(min(65_536, count - len(data)))
        if not chunk:
            raise OSError(f"it ended after {len(data)} of {count} bytes")
        data += chunk
    return bytes(data)
