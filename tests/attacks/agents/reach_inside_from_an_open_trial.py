"""Connects to addresses inside, as a trial in mode Open, in every way that a resolver takes."""

import json
import socket
import sys
import threading

given = json.loads(sys.stdin.read())
reached = []


def look(host, port):
    try:
        socket.create_connection((host, port), timeout=5).close()
        reached.append(f"reached {host}:{port}")
    except OSError as error:
        print(host, port, error)


threads = [threading.Thread(target=look, args=tuple(place)) for place in given["inside"]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
inside = sorted(reached)
look(*given["outside"])
world = [line.replace("reached", "world") for line in reached if line not in inside]
with open("reached.txt", "w") as file:
    file.write("\n".join([f"tried {len(threads)}", *world, *inside]))
print("\n".join(reached))
