"""Signals to all that it sees, the port taken, every connection that loop would take held."""

import contextlib
import os
import signal
import socket
import time

for number in (signal.SIGTERM, signal.SIGKILL):
    for pid in [int(name) for name in os.listdir("/proc") if name.isdigit()]:
        if pid not in (os.getpid(), os.getppid()):
            with contextlib.suppress(OSError):
                os.kill(pid, number)
for host in ("127.0.0.1", "0.0.0.0", "127.0.0.2"):
    with contextlib.suppress(OSError), socket.create_server((host, 61117)):
        print("took the port on", host)
held = []
for _ in range(400):
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(("127.0.0.1", 61117))
    held.append(connection)
time.sleep(5)  # with its queue full
