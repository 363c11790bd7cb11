import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from builders_runner import TrialFolders
from proctor.runner.folders import wipe


@pytest.fixture
def folders(tmp_path):
    yield TrialFolders(tmp_path)
    wipe(tmp_path)  # deeper than pytest can remove


@pytest.fixture
def listener():
    """The address of a port that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def gateway():
    """Starts a server that answers the ledger's questions; ``gateway(bill, entries, key)``.

    ``gateway.closed`` has the answers to those who asked it to close an account.
    """
    servers = []
    closed = []

    def start(bill, entries=(), key=None, failures=0):
        answers = [503] * failures

        class Ledger(BaseHTTPRequestHandler):
            def do_GET(self):
                allowed = key is None or self.headers["Authorization"] == f"Bearer {key}"
                status = answers.pop() if answers else 200 if allowed else 401
                if self.path != "/proctor/v1/ledger":
                    status = 404
                body = json.dumps({"bill": bill.to_json(), "entries": list(entries)}).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                allowed = self.headers["Authorization"] == f"Bearer {key}"
                status = answers.pop() if answers else 204 if allowed else 401
                if self.path != "/proctor/v1/close":
                    status = 404
                closed.append(status)
                self.send_response(status)
                self.end_headers()

            def log_message(self, *_):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Ledger)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    start.closed = closed
    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
