import ctypes
import os

libc = ctypes.CDLL(None, use_errno=True)
done = ["tried"]
NEWUSER, NEWNS, NEWPID, NEWNET = 0x10000000, 0x00020000, 0x20000000, 0x40000000
for name, flags in (("user", NEWUSER), ("mount", NEWNS), ("pid", NEWPID), ("net", NEWNET),
                    ("user-mount", NEWUSER | NEWNS)):  # fmt: skip
    if os.fork() == 0:
        os._exit(libc.unshare(flags) & 0xFF)
    if os.waitstatus_to_exitcode(os.wait()[1]) == 0:
        done.append(f"did {name}")
if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
    done.append("did mount")
if libc.chroot(b"/tmp") == 0:
    done.append("did chroot")
for identity in (0, 1):
    try:
        os.setuid(identity)
        done.append("did setuid")
    except OSError:
        continue
for path in ("/usr/bin/su", "/usr/bin/mount", "/usr/bin/passwd"):
    if os.path.exists(path) and os.system(f"{path} -c id 2>/dev/null | grep -q uid=0") == 0:
        done.append("did become root")
with open("done.txt", "w") as file:
    file.write("\n".join(done))
