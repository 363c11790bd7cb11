import os
import re

NEEDLE = re.compile(rb"needle-[0-9a-f]{32}")
IN_A_POD = os.path.isdir("/proctor-orders")
ROOTS = ["/"] if IN_A_POD else [os.getcwd(), os.path.expanduser("~")]
found = set(NEEDLE.findall(b"\0".join(os.environb.values())))
for root in ROOTS:
    for folder, folders, files in os.walk(root):
        if folder in ("/sys", "/usr", "/lib", "/proctor/lib"):
            folders.clear()
        if folder == "/proc":
            folders[:] = [name for name in folders if name.isdigit()]
        if folder.count("/") > 3 and folder.startswith("/proc/"):
            folders.clear()
        for name in files:
            if name in ("kmsg", "kpagecount", "kpageflags", "kpagecgroup", "pagemap", "mem"):
                continue
            try:
                fd = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NONBLOCK)
            except OSError:
                continue
            try:
                found.update(NEEDLE.findall(os.read(fd, 4 << 20)))
            except OSError:
                pass
            finally:
                os.close(fd)
with open("answer.txt", "wb") as file:
    file.write(b"\n".join(found))
