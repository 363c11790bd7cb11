import ctypes
import os

with open("/dev/shm/left", "wb") as file:
    try:
        while True:
            file.write(b"x" * (1 << 20))
    except OSError as error:
        print(error)
os.makedirs("/dev/shm/closed/inner", mode=0o700)
os.chmod("/dev/shm/closed", 0)
libc = ctypes.CDLL(None)
for number in range(32):
    libc.shmget(number + 1, 1 << 20, 0o1666)
    libc.semget(number + 1, 8, 0o1666)
    libc.msgget(number + 1, 0o1666)
