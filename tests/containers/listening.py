"""A server of this machine that trials must not reach."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def listening() -> Iterator[tuple[int, list[object]]]:
    """A port on all addresses of this machine, and how often somebody came."""
    came = []
    with socket.create_server(("0.0.0.0", 0), backlog=16) as server:

        def serve():
            while True:
                try:
                    client, address = server.accept()
                except OSError:
                    return
                came.append(address)
                with client, suppress(OSError):
                    client.settimeout(5)
                    client.recv(4096)  # closed with something unread, it would be reset
                    client.sendall(b"HTTP/1.0 200 OK\r\n\r\nreached\n")

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1], came
        server.shutdown(socket.SHUT_RDWR)
