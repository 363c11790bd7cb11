import contextlib
import os
import resource
import time

for task in os.listdir("/proc/1/task"):
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, int(task), 19)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(int(task), os.SCHED_IDLE, os.sched_param(0))
for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (3, 3))
        while True:
            pass
time.sleep(1)
