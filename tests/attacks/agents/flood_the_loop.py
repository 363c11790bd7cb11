"""Keeps at it from a process that ignores signals, until it is killed."""

import os
import signal
import socket
import threading
import time

SOCKET = "/var/run/proctor/handover/loop.sock"  # where there is no network
LINES = (b"", b"\n", b"\0" * 98, b"0" * 32 + b" " + b"0" * 64 + b"\n", b"x" * 200_000,
         b"0" * 97, b"\xff" * 97 + b"\n", b"GET / HTTP/1.1\r\n\r\n")  # fmt: skip


def connected():
    if not os.path.exists(SOCKET):
        return socket.create_connection(("127.0.0.1", 61117), timeout=2)
    loop = socket.socket(socket.AF_UNIX)
    loop.settimeout(2)
    loop.connect(SOCKET)
    return loop


def flood(number):
    held = []
    while True:
        try:
            loop = connected()
            loop.sendall(LINES[number % len(LINES)])
            held = [*held[-20:], loop]
            loop.settimeout(0.05)
            said = loop.recv(100_000)
            if said:
                with open("answer.txt", "ab") as file:
                    file.write(said)
        except OSError:
            time.sleep(0.01)
        number += 1


if os.fork() == 0:
    os.setsid()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for number in range(12):
        threading.Thread(target=flood, args=(number,)).start()
else:
    time.sleep(8)  # the child floods meanwhile
