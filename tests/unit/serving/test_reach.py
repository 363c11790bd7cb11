"""What `helm test` runs: every server is asked whether it is ready."""

import http.server
import threading

import pytest

from proctor.serving.reach import main


@pytest.fixture
def serving():
    """Start a server that answers with these statuses, the last one again and again; its URL."""
    servers = []

    def serve(*statuses):
        given = iter(statuses)

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(next(given, statuses[-1]))
                self.end_headers()
                self.wfile.write(b"not ready\n")

            def log_message(self, *_):
                """Be quiet."""

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}/readyz"

    yield serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_servers_that_are_ready_are_named(serving, capsys):
    urls = [serving(200), serving(200)]
    assert main(urls) == 0
    assert capsys.readouterr().out.splitlines() == [f"{url}: ready" for url in urls]


def test_a_server_that_becomes_ready_is_waited_for(serving, capsys):
    url = serving(503, 200)
    assert main([url, "--seconds=30"]) == 0
    assert capsys.readouterr().out == f"{url}: ready\n"


def test_one_server_that_is_not_ready_is_enough_and_says_what_it_answers(serving, capsys):
    ready, other = serving(200), serving(503)
    assert main([ready, other, "--seconds=0"]) == 1
    assert capsys.readouterr().out == f"{ready}: ready\n{other}: answers 503: not ready\n"


def test_a_server_that_is_not_there_is_said(capsys):
    assert main(["http://127.0.0.1:1/readyz", "--seconds=0"]) == 1
    assert "cannot be reached" in capsys.readouterr().out


def test_a_proxy_of_the_environment_is_not_asked(serving, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert main([serving(200)]) == 0
