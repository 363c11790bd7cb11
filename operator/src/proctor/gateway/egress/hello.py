"""The server name in the first bytes of a TLS connection (RFC 8446, 4.1.2; RFC 6066, 3); pure.

Anything but one ClientHello with one host name is an error: a proxy that guesses lets through what
it did not look at.
"""

from collections.abc import Iterator

LONGEST = 64 * 1024
_HANDSHAKE, _CLIENT_HELLO, _SERVER_NAME, _HOST_NAME = 22, 1, 0, 0


class HelloError(ValueError):
    """This is not the beginning of a TLS connection to a named host."""


class IncompleteError(Exception):
    """So far so good; more bytes are needed."""


class _Bytes:
    """Reads numbers and blocks off the front of bytes that are all there."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, count: int) -> bytes:
        """The next bytes; HelloError when there are fewer."""
        found = self._data[self._at : self._at + count]
        if len(found) < count:
            raise HelloError("a length in the ClientHello is wrong")
        self._at += count
        return found

    def rest(self) -> bytes:
        """All that is left."""
        return self.take(len(self._data) - self._at)

    def number(self, size: int) -> int:
        """The next number of ``size`` bytes."""
        return int.from_bytes(self.take(size), "big")

    def block(self, size: int) -> "_Bytes":
        """What follows a length of ``size`` bytes."""
        return _Bytes(self.take(self.number(size)))


def server_name(data: bytes) -> str:
    """The host that a client asks for, in lower case.

    Raises:
        IncompleteError: The ClientHello is not all there yet.
        HelloError: It is none, or names not exactly one host.
    """
    hello = _client_hello(data)
    hello.take(2 + 32)  # version, random
    hello.block(1)  # session id
    hello.block(2)  # cipher suites
    hello.block(1)  # compression
    if not hello:
        raise HelloError("the ClientHello names no host")
    extensions = hello.block(2)
    names = [name for kind, body in _extensions(extensions) for name in _names(kind, body)]
    if len(names) != 1:
        raise HelloError(f"the ClientHello names {len(names)} hosts")
    try:
        return names[0].decode("ascii").lower()
    except UnicodeDecodeError:
        raise HelloError("the name in the ClientHello is not ASCII") from None


def _client_hello(data: bytes) -> _Bytes:
    """The body of the ClientHello, put together from the records that it lies in."""
    message, at = b"", 0
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):
        if len(data) > at and data[at] != _HANDSHAKE:
            raise HelloError("this is not TLS")
        if len(data) < at + 5:
            raise IncompleteError
        if data[at + 1] != 3:
            raise HelloError("this is not TLS")
        length = int.from_bytes(data[at + 3 : at + 5], "big")
        if len(data) < at + 5 + length:
            raise IncompleteError
        message += data[at + 5 : at + 5 + length]
        at += 5 + length
        if message[:1] not in (b"", bytes([_CLIENT_HELLO])):
            raise HelloError("the connection does not begin with a ClientHello")
    return _Bytes(message[4 : 4 + int.from_bytes(message[1:4], "big")])


def _extensions(block: _Bytes) -> Iterator[tuple[int, _Bytes]]:
    while block:
        yield block.number(2), block.block(2)


def _names(kind: int, body: _Bytes) -> Iterator[bytes]:
    if kind != _SERVER_NAME:
        return
    names = body.block(2)
    while names:
        if names.number(1) != _HOST_NAME:
            raise HelloError("the ClientHello names something that is no host")
        yield names.block(2).rest()
