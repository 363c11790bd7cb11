"""Signals to all that it sees, the port taken, every connection that loop would take held."""

import contextlib
import os
import signal
import socket
import time

SOCKET = "/var/run/proctor/handover/loop.sock"  # where there is no network

for number in (signal.SIGTERM, signal.SIGKILL):
    for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        if pid not in (os.getpid(), os.getppid()):
            with contextlib.suppress(OSError):
                os.kill(pid, number)
for host in ("127.0.0.1", "0.0.0.0", "127.0.0.2"):
    with contextlib.suppress(OSError), socket.create_server((host, 61117)):
        print("took the port on", host)
with contextlib.suppress(OSError):
    os.unlink(SOCKET)
FAMILY, ADDRESS = socket.AF_INET, ("127.0.0.1", 61117)
if os.path.exists(SOCKET):
    FAMILY, ADDRESS = socket.AF_UNIX, SOCKET
held = []
for _ in range(400):
    connection = socket.socket(FAMILY)
    connection.setblocking(False)
    connection.connect_ex(ADDRESS)
    held.append(connection)
time.sleep(5)  # with its queue full
