"""The parent of one container: it is removed when it ended, must end, or the launcher is gone.

``python -P -m proctor.local.container_keeper GRACE_SECONDS ENGINE NAME FOREIGN ARGUMENT…``, the
arguments of ``ENGINE create``. ``FOREIGN`` is a JSON object: ``folders`` become ours again in the
end, because in them podman without root leaves files of users that only its own namespace knows;
with ``passesOn`` only when the container did not end well: the next one has the same user. Standard
input is the launcher's hand, as in ``keeper.py``: a byte asks the container to end, end of file
(also when the launcher was killed) ends it at once. Standard output takes one JSON object, standard
error whatever the container prints.

A container is no descendant of ours: its engine has to be asked. It is created before it is
started, so that it has a name before anything can go wrong.
"""

import contextlib
import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from proctor.local.keeper import take_charge, wake_on_signals

_REAP_SECONDS = 2.0
_PAUSE_SECONDS = 0.05
_OOM = "oom"
"""What podman's monitor leaves where it was started; podman 4.3 itself looks for it elsewhere."""

_NEVER = "0001-"
"""The engines' year of what never happened."""


def main(arguments: Sequence[str]) -> int:
    """Run one container; always 0, for how it ended is in the answer."""
    grace, engine, name, foreign, *words = arguments
    take_charge()
    wake, end = wake_on_signals(), dict[str, Any]()
    try:
        end = _run(_Named(engine, name, grace), words, wake)
    finally:
        _Named(engine, name, grace).remove()
        left = json.loads(foreign)
        if not (left["passesOn"] and end.get("exit") == 0):
            _take_back(engine, left["folders"])
        _reap()
    print(json.dumps(end), flush=True)
    return 0


class _Named:
    """One container of an engine, by its name."""

    def __init__(self, engine: str, name: str, grace: str) -> None:
        self._engine, self._name, self._grace = engine, name, grace

    def create(self, words: Sequence[str]) -> bool:
        """Make it; what is wrong is printed by the engine."""
        command = (self._engine, "create", "--name", self._name, *words)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return done.returncode == 0

    def start(self) -> "subprocess.Popen[bytes]":
        """Start it; the client ends when it has ended."""
        command = (self._engine, "start", "--attach", self._name)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True)

    def stop(self) -> "subprocess.Popen[bytes]":
        """Begin to end it: SIGTERM, and SIGKILL after the grace."""
        none = subprocess.DEVNULL
        command = (self._engine, "stop", "-t", self._grace, self._name)
        return subprocess.Popen(command, stdin=none, stdout=none, stderr=none)

    def kill(self) -> None:
        """End it at once; it may have ended."""
        self._quietly("kill", self._name)

    def remove(self) -> None:
        """Leave nothing of it."""
        self.kill()
        self._quietly("rm", "--force", "--volumes", self._name)

    def state(self) -> dict[str, Any]:
        """What the engine says of it; empty when it says nothing."""
        command = (self._engine, "inspect", "--format", "{{json .State}}", self._name)
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            said = json.loads(done.stdout)
        except ValueError:
            return {}
        return said if isinstance(said, dict) else {}

    def _quietly(self, *words: str) -> None:
        none = subprocess.DEVNULL
        subprocess.run((self._engine, *words), stdin=none, stdout=none, stderr=none)


def _run(container: _Named, words: Sequence[str], wake: int) -> dict[str, Any]:
    Path(_OOM).unlink(missing_ok=True)
    if not container.create(words):
        return {"exit": None}
    with container.start() as client:
        _watch(client, container, wake)
    state = container.state()
    if str(state.get("StartedAt", _NEVER)).startswith(_NEVER):
        return {"exit": None}
    oom = bool(state.get("OOMKilled")) or Path(_OOM).exists()
    return {"exit": state.get("ExitCode"), "oom": oom}


def _watch(client: "subprocess.Popen[bytes]", container: _Named, wake: int) -> None:
    """Wait for the client, and carry out what the launcher asks for.

    Again and again, because a container that is just being started is not there to be stopped.
    """
    stopping: subprocess.Popen[bytes] | None = None
    asked = ended = False
    while client.poll() is None:
        hand = [] if ended else [0]
        pause = _PAUSE_SECONDS if asked or ended else None
        readable, _, _ = select.select([*hand, wake], [], [], pause)
        if wake in readable:
            os.read(wake, 4096)
        if 0 in readable:
            asked = True
            ended = not os.read(0, 1)
        if ended:
            container.kill()
        elif asked and (stopping is None or stopping.poll() is not None):
            stopping = container.stop()
    if stopping is not None:
        stopping.wait()


def _take_back(engine: str, folders: Sequence[str]) -> None:
    """Own what is in the folders; root of the engine's namespace is this user. Links stay links."""
    if folders:
        command = (engine, "unshare", "chown", "-hRP", "0:0", "--", *folders)
        subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _reap() -> None:
    """Collect what the engine left to us, such as the container's monitor."""
    deadline = time.monotonic() + _REAP_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < deadline:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
