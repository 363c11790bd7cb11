"""Where a container has no network: the gateway's Unix socket, as a port on its own 127.0.0.1.

Model clients speak TCP only. Both ends are the trial's own: nobody else is in the container's
network, and the socket leads to the gateway alone.
"""

import contextlib
import socket
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from proctor.runner.places import NotStartedError

MOST_CONNECTIONS = 128
"""At the same time; further ones wait. Each takes two threads of the runner."""

_CHUNK = 65_536
_PAUSE_SECONDS = 0.05


def forward(url: str, path: Path) -> None:
    """From now on whoever connects to the port of ``url`` is connected to the socket.

    Raises:
        NotStartedError: When the port cannot be had, or nobody listens at the socket.
    """
    parts = urlsplit(url)
    try:
        _dial(path).close()
        listener = socket.create_server((parts.hostname or "", parts.port or 0), backlog=128)
    except OSError as error:
        raise NotStartedError(f"gateway {url} by {path}: {error}") from error
    threading.Thread(target=_serve, args=(listener, path), name="gateway", daemon=True).start()


def _serve(listener: socket.socket, path: Path) -> None:
    free = threading.BoundedSemaphore(MOST_CONNECTIONS)
    while True:
        free.acquire()
        try:
            client, _ = listener.accept()
        except OSError:  # no descriptor to be had: the agent took them from us
            free.release()
            time.sleep(_PAUSE_SECONDS)
            continue
        try:
            threading.Thread(target=_connect, args=(client, path, free), daemon=True).start()
        except RuntimeError:  # no thread to be had
            client.close()
            free.release()


def _connect(client: socket.socket, path: Path, free: threading.BoundedSemaphore) -> None:
    """Carry bytes both ways until both sides have said all."""
    try:
        with client, _dial(path) as gateway:
            back = threading.Thread(target=_copy, args=(gateway, client), daemon=True)
            back.start()
            _copy(client, gateway)
            back.join()
    except (OSError, RuntimeError):
        return
    finally:
        free.release()


def _dial(path: Path) -> socket.socket:
    gateway = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        gateway.connect(str(path))
    except OSError:
        gateway.close()
        raise
    return gateway


def _copy(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while chunk := source.recv(_CHUNK):
            target.sendall(chunk)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
