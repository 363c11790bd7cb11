"""A network outside the cluster: real listeners in a namespace that the node routes to.

Its addresses are public by the books and lead nowhere: 192.88.99.0/24 was of 6to4 relays,
which RFC 7526 ended. A private address and the metadata address of clouds are there too.
"""

import fcntl
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

NODE = "192.88.99.1"
PUBLIC = "192.88.99.10"
PRIVATE = "10.200.0.5"
METADATA = "169.254.169.254"
ADDRESSES = (PUBLIC, PRIVATE, METADATA)
PLAIN_PORT, TLS_PORTS = 80, (443, 8443, 9443)
ANSWER = "from outside"

_SERVER = """
import http.server, ssl, sys, threading

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", str(len(ANSWER)))
        self.end_headers()
        self.wfile.write(ANSWER)

    def log_message(self, *_):
        pass

ANSWER = sys.argv[1].encode()
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[2], sys.argv[3])
for port in map(int, sys.argv[4:]):
    server = http.server.ThreadingHTTPServer(("0.0.0.0", port), Handler)
    if port != 80:
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False
        )
    threading.Thread(target=server.serve_forever, daemon=True).start()
print("listening", flush=True)
sys.stdin.read()
"""


@contextmanager
def outside(folder: Path) -> Iterator[int]:
    """The listeners, until the context ends; run in the cluster's network, one at a time.

    Gives the id of a process in their network.
    """
    with (Path(tempfile.gettempdir()) / "proctor-test-outside.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _listening(folder) as pid:
            yield pid


@contextmanager
def _listening(folder: Path) -> Iterator[int]:
    certificate, key = _certificate(folder)
    ports = [str(port) for port in (PLAIN_PORT, *TLS_PORTS)]
    server = subprocess.Popen(
        ["unshare", "--net", "--", sys.executable, "-c", _SERVER, ANSWER, certificate, key, *ports],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert server.stdin is not None
    assert server.stdout is not None
    try:
        assert server.stdout.readline() == "listening\n"
        _join(server.pid)
        yield server.pid
    finally:
        # Now, and not some time after its namespace: the next one has the same name.
        subprocess.run(["ip", "link", "del", "outside0"], capture_output=True, check=False)
        server.stdin.close()
        server.wait(30)
        server.stdout.close()


def _join(pid: int) -> None:
    """Lay a cable between the node and the namespace of a process."""
    inside = ["nsenter", f"--net=/proc/{pid}/ns/net", "--"]
    _run("ip", "link", "add", "outside0", "type", "veth", "peer", "name", "outside1")
    _run("ip", "link", "set", "outside1", "netns", str(pid))
    _run("ip", "addr", "add", f"{NODE}/24", "dev", "outside0")
    _run("ip", "link", "set", "outside0", "up")
    _run(*inside, "ip", "link", "set", "lo", "up")
    _run(*inside, "ip", "addr", "add", f"{PUBLIC}/24", "dev", "outside1")
    _run(*inside, "ip", "link", "set", "outside1", "up")
    _run(*inside, "ip", "route", "add", "default", "via", NODE)
    for address in (PRIVATE, METADATA):
        _run(*inside, "ip", "addr", "add", f"{address}/32", "dev", "lo")
        _run("ip", "route", "add", f"{address}/32", "via", PUBLIC)


def _certificate(folder: Path) -> tuple[str, str]:
    certificate, key = str(folder / "outside.crt"), str(folder / "outside.key")
    _run(
        *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
        *("-subj", "/CN=outside", "-out", certificate, "-keyout", key),
    )
    return certificate, key


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
