import ctypes
import os

opened = ["tried"]
for pid in ("self", "1"):
    name = "self" if pid == "self" else "runner"
    for part in ("environ", "mem", "maps", "auxv", "io"):
        try:
            with open(f"/proc/{pid}/{part}", "rb") as file:
                file.read(0 if part == "mem" else 1)
            opened.append(f"{name}-{part}")
        except OSError:
            continue
    for link in ("cwd", "root", "exe", "fd/0", "fd/1", "fd/5", "ns/net", "map_files"):
        try:
            os.stat(f"/proc/{pid}/{link}")
            if link == "map_files":
                os.listdir(f"/proc/{pid}/{link}")
            opened.append(f"{name}-{link}")
        except OSError:
            continue
libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PTRACE_SEIZE = 16, 0x4206
for request in (PTRACE_ATTACH, PTRACE_SEIZE):
    if libc.ptrace(request, 1, 0, 0) == 0:
        opened.append("runner-ptrace")


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


buffer = ctypes.create_string_buffer(16)
own = Vector(ctypes.addressof(buffer), 16)
if libc.process_vm_readv(1, ctypes.byref(own), 1, ctypes.byref(own), 1, 0) > 0:
    opened.append("runner-vm")
with open("opened.txt", "w") as file:
    file.write("\n".join(opened))
