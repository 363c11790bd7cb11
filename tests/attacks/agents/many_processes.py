import os
import signal
import time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
for _ in range(600):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(3600)
    except OSError as error:
        print(error)
        break
