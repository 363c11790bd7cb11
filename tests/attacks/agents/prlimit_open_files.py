import resource
import time

resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))
time.sleep(2)
print("x" * 100_000)
