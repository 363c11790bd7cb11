import resource
import time

resource.prlimit(1, resource.RLIMIT_CPU, (1, 1))
time.sleep(8)
print("x" * 100_000)
