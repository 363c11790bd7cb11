import socket
import sys

reached = ["tried"]
try:
    socket.getaddrinfo("kubernetes.default.svc.cluster.local", 443)
    reached.append("resolved a name")
except OSError as error:
    print(error)
QUERY = bytes.fromhex("000101000001000000000000")
QUERY += b"\x0akubernetes\x07default\x03svc\x07cluster\x05local\x00\x00\x01\x00\x01"
server = sys.stdin.read().strip()
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
    udp.settimeout(3)
    try:
        udp.sendto(QUERY, (server, 53))
        udp.recv(512)
        reached.append(f"resolved by {server}")
    except OSError as error:
        print(server, error)
with open("reached.txt", "w") as file:
    file.write("\n".join(reached))
