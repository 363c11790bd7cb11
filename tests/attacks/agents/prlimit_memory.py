import resource
import time

resource.prlimit(1, resource.RLIMIT_AS, (1, 1))
time.sleep(2)
print("x" * 100_000)
