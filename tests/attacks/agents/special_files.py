import contextlib
import os
import socket

os.mkfifo("answer.txt")
os.mkfifo(".gitignore")
with contextlib.suppress(OSError):
    os.mknod("device", 0o20666, os.makedev(1, 5))
socket.socket(socket.AF_UNIX).bind("socket")
