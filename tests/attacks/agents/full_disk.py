"""The kubelet looks at a volume once a minute: only an agent that is still there is evicted."""

import time

with open("big", "wb") as file:
    for _ in range(300):
        file.write(b"x" * (1 << 20))
time.sleep(390)
