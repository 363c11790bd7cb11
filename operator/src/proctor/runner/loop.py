"""``loop``: a sidecar that keeps hidden orders until nothing of the agent is left.

It mounts the workspace read-only and executes nothing from it. When the runner in ``agent`` asks,
every process there is dead: ``loop`` sets the workspace aside for ``grade``, then hands the orders
over, once. Started again, it has no secret any more and hands over nothing.
"""

import contextlib
import json
import os
import signal
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from proctor.runner.copying import copy_tree
from proctor.runner.folders import wipe, write_new
from proctor.runner.handover import HOST, REQUEST_BYTES, SECRET, answer, nonce_of
from proctor.runner.hardening import hide
from proctor.runner.kept import HANDED_OVER, WORKSPACE
from proctor.runner.places import LoopAddress, LoopPlaces, read_key, read_orders
from proctor.runner.printing import printable
from proctor.runner.secret_values import phase_redactor
from proctor.runner.stopping import exit_on_signals

_STARTED = "started"
_READ_SECONDS = 1.0
_ANSWER_SECONDS = 600.0
_PAUSE_SECONDS = 0.05  # after a wrong request
_QUEUE = 16


def run_loop(places: LoopPlaces) -> None:
    """Serve one hand-over, then wait for SIGTERM; never returns."""
    exit_on_signals()
    hide()
    if _is_first_start(places.kept):
        body = json.dumps(read_orders(places.orders)).encode()
        with _listen(places.at) as listener:
            secret = os.urandom(32).hex().encode()
            _publish(secret, places.handshake)
            _Server(places, listener, secret, body).serve()
    else:
        print("started again: nothing is handed over any more", flush=True)
    while True:
        signal.pause()


def _listen(at: LoopAddress) -> socket.socket:
    """Whoever reaches a socket may connect to it: which user that is, says nothing."""
    if isinstance(at, int):
        return socket.create_server((HOST, at), backlog=_QUEUE)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(at))
    at.chmod(0o666)
    listener.listen(_QUEUE)
    return listener


def _is_first_start(kept: Path) -> bool:
    try:
        write_new(kept, _STARTED, b"")
    except FileExistsError:
        return False
    return True


def _publish(secret: bytes, handshake: Path) -> None:
    """Show the secret to the runner in ``agent``, all of it at once."""
    write_new(handshake, f".{SECRET}", secret)
    os.rename(handshake / f".{SECRET}", handshake / SECRET)


@dataclass(slots=True)
class _Server:
    places: LoopPlaces
    listener: socket.socket
    secret: bytes
    body: bytes
    wrong: int = 0

    def serve(self) -> None:
        """Answer the one genuine request; the others are counted, slowly."""
        while not self._answered_next():
            self.wrong += 1
            time.sleep(_PAUSE_SECONDS)

    def _answered_next(self) -> bool:
        """Take the next connection; whether it was the genuine one, even if it did not listen."""
        connection, _ = self.listener.accept()
        nonce = None
        with connection, contextlib.suppress(OSError):
            nonce = nonce_of(_line(connection), self.secret)
            if nonce is not None:
                reply = answer(self.secret, nonce, self._hand_over())
                connection.settimeout(_ANSWER_SECONDS)
                connection.sendall(reply)
        return nonce is not None

    def _hand_over(self) -> bytes:
        print(f"handing over; {self.wrong} wrong requests before", flush=True)
        target = self.places.kept / WORKSPACE
        redactor = phase_redactor(os.environ, None, read_key(self.places.pass_file))
        try:
            for skipped in copy_tree(self.places.workspace, target):
                print(f"workspace: left out {redactor.text(printable(skipped))}", flush=True)
            write_new(self.places.kept, HANDED_OVER, b"")
        except OSError as error:
            with contextlib.suppress(OSError):
                wipe(target)
            problem = f"the workspace cannot be set aside: {error.strerror}"
            return json.dumps({"problem": problem}).encode()
        return self.body


def _line(connection: socket.socket) -> bytes:
    """What was sent up to a newline, and no more than a request has; within one second in all."""
    deadline = time.monotonic() + _READ_SECONDS
    data = b""
    while len(data) < REQUEST_BYTES and not data.endswith(b"\n"):
        connection.settimeout(max(deadline - time.monotonic(), 0.001))
        chunk = connection.recv(REQUEST_BYTES - len(data))
        if not chunk:
            break
        data += chunk
    return data
