import socket
import sys

reached = ["tried"]
for address in sys.stdin.read().split():
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=3).close()
        reached.append(f"reached {address}")
    except OSError as error:
        print(address, error)
with open("reached.txt", "w") as file:
    file.write("\n".join(reached))
