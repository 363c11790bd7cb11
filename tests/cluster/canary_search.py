"""Looks for texts in all containers of a node: environments, command lines, memory, files.

With ``--ended`` it looks at the files that containers left which run no more, instead: the volumes
of pods, the writable layers of containers, their logs.

Runs as root in a privileged pod that sees the host's processes. Reads what to look for from
standard input, as JSON ``{name: text}``, so that it is in no command line. Its last argument is
when the texts came to be, in seconds since the epoch: a file that nobody changed since cannot hold
them. Prints a JSON list of ``[pod UID, container ID, where, name]``, without IDs where a path has
none. Its own pod finds itself; the caller leaves that out.
"""

import base64
import json
import os
import re
import stat
import sys

POD = re.compile(r"pod([0-9a-f]{8}[-_][0-9a-f_-]{27})")
CONTAINER = re.compile(r"([0-9a-f]{64})")
CHUNK = 4 << 20
LEFT_OUT = ("proc", "sys")
NODE = "/proc/1/root"
LEFT_BEHIND = {
    "volumes": "/var/lib/kubelet/pods",
    "layers": "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots",
    "logs": "/var/log/pods",
}
UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def forms(text):
    """The text, and what base64 makes of it wherever it begins."""
    data = text.encode()
    encoded = [base64.b64encode(b"\0" * shift + data)[4 if shift else 0 :] for shift in range(3)]
    return [data, *(one[:-4] for one in encoded)]


def place_of(pid):
    with open(f"/proc/{pid}/cgroup") as file:
        text = file.read()
    pod, container = POD.search(text), CONTAINER.search(text)
    return (pod[1].replace("_", "-"), container[1]) if pod and container else None


def found_in(blocks, wanted):
    """Names of the texts that are in the blocks, also across the border of two."""
    names, tail = set(), b""
    for block in blocks:
        data = tail + block
        names.update(name for name, texts in wanted.items() if any(t in data for t in texts))
        tail = data[-512:]
    return names


def blocks_of_file(path):
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW)
    with open(descriptor, "rb") as file:
        while block := file.read(CHUNK):
            yield block


def blocks_of_memory(pid):
    with open(f"/proc/{pid}/maps") as file:
        regions = [line.split() for line in file]
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for span, modes, *rest in regions:
            if not modes.startswith("rw") or rest[-1:] in (["[vvar]"], ["[vsyscall]"]):
                continue
            begin, end = (int(number, 16) for number in span.split("-"))
            while begin < end:
                try:
                    memory.seek(begin)
                    block = memory.read(min(CHUNK, end - begin))
                except (OSError, OverflowError):
                    break
                if not block:
                    break
                begin += len(block)
                yield block


def parts_of(pid):
    for part in ("environ", "cmdline"):
        yield part, blocks_of_file(f"/proc/{pid}/{part}")
    yield "memory", blocks_of_memory(pid)


def files_below(root, since):
    for folder, folders, files in os.walk(root):
        if folder == root:
            folders[:] = [name for name in folders if name not in LEFT_OUT]
        for name in files:
            path = os.path.join(folder, name)
            try:
                found = os.lstat(path)
            except OSError:
                continue
            if stat.S_ISREG(found.st_mode) and found.st_ctime >= since:
                yield path, path.removeprefix(root)


def search(wanted, since):
    searched = set()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            place = place_of(pid)
            if place is None:
                continue
            parts = [
                (part, blocks_of_file(f"/proc/{pid}/{part}")) for part in ("environ", "cmdline")
            ]
            for where, blocks in [*parts, ("memory", blocks_of_memory(pid))]:
                yield from ((*place, where, name) for name in found_in(blocks, wanted))
            if place in searched:
                continue
            searched.add(place)
            yield (*place, "searched", "")
        except OSError:
            continue  # it has ended
        yield from search_files(pid, place, wanted, since)


def search_files(pid, place, wanted, since):
    for path, inside in files_below(f"/proc/{pid}/root", since):
        try:
            names = found_in(blocks_of_file(path), wanted)
        except OSError:
            continue
        yield from ((*place, inside, name) for name in names)


def search_left_behind(wanted, since):
    for kind, folder in LEFT_BEHIND.items():
        if not os.path.isdir(NODE + folder):
            continue
        yield "", "", kind, "searched"
        for path, inside in files_below(NODE + folder, since):
            try:
                names = found_in(blocks_of_file(path), wanted)
            except OSError:
                continue
            uid = UID.search(inside)
            yield from ((uid[0] if uid else "", "", f"{kind}{inside}", name) for name in names)


def main():
    wanted = {name: forms(text) for name, text in json.load(sys.stdin).items()}
    look = search_left_behind if "--ended" in sys.argv else search
    print(json.dumps(sorted(set(look(wanted, float(sys.argv[-1]))))))


if __name__ == "__main__":
    main()
