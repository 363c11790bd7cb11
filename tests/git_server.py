"""A git server as the world has them: git's own ``http-backend`` behind TLS, with a few faults.

Below ``/faults/STATUS/`` every request gets that status, ``/moved/`` leads to the same repository
on this host, ``/away/`` to another one, ``/page/`` is no git server. ``/closed/`` asks for
``USERNAME`` and ``PASSWORD``, ``/echo/`` refuses and repeats what it was given;
``/old/`` knows the first version of the protocol alone.
"""

import base64
import http.server
import os
import ssl
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

USERNAME, PASSWORD = "robot", "open-sesame-4711"
AWAY = "https://elsewhere.test/"
NO_SETTINGS = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
"""Git looks into no file of whoever runs the tests."""


@dataclass(frozen=True)
class GitServer:
    """Where it listens, and the certificate that it is trusted by."""

    port: int
    authorities: str

    @property
    def url(self) -> str:
        """Its URL on this machine."""
        return f"https://localhost:{self.port}"


def certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """A certificate for a name, which is its own authority, and its key."""
    made, key = folder / "git.crt", folder / "git.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
         "/CN=git", "-addext", f"subjectAltName=DNS:{name}", "-out", made, "-keyout", key],
        check=True, capture_output=True,
    )  # fmt: skip
    return made, key


def git(repository: Path, *arguments: str) -> str:
    """Run git as the same person at the same time, whoever runs the tests."""
    person = {"NAME": "Ada", "EMAIL": "ada@example.org", "DATE": "2024-05-06T07:08:09Z"}
    env = {f"GIT_{who}_{key}": value for who in ("AUTHOR", "COMMITTER") for key, value in
           person.items()}  # fmt: skip
    done = subprocess.run(
        ["git", *arguments],
        cwd=repository,
        env={**os.environ, **env, **NO_SETTINGS},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"git {arguments}: {done.stderr}"
    return done.stdout.strip()


def a_repository(folder: Path, files: Mapping[str, str]) -> str:
    """A repository with two commits, the last of which has these files; its id comes back."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet", "--initial-branch=main")
    (folder / "old.txt").write_text("of the first commit\n")
    commit(folder, {})
    return commit(folder, {**files, "old.txt": None})


def commit(folder: Path, files: Mapping[str, str | None]) -> str:
    """Commit files, or their removal, and whatever else was changed."""
    for path, text in files.items():
        file = folder / path
        if text is None:
            file.unlink()
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--allow-empty", "--message", "Change things")
    return git(folder, "rev-parse", "HEAD")


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    root: Path

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def log_message(self, *_: object) -> None:
        pass

    def _answer(self, body: bytes) -> None:
        path, _, query = self.path.partition("?")
        place, _, rest = path.lstrip("/").partition("/")
        if place == "faults":
            self._say(int(rest.partition("/")[0]), b"so it was asked for")
        elif place in ("moved", "away"):
            start = "/" if place == "moved" else AWAY
            self._say(302, b"", Location=f"{start}{rest}?{query}")
        elif place == "page":
            self._say(200, b"<html>hello</html>", **{"Content-Type": "text/html"})
        elif place == "echo":
            self._say(403, f"you are {self._login()}".encode())
        elif place == "closed" and self._login() != f"{USERNAME}:{PASSWORD}":
            self._say(401, b"who are you?", **{"WWW-Authenticate": 'Basic realm="git"'})
        else:
            self._git(rest if place in ("closed", "old") else path.lstrip("/"), query, body)

    def _login(self) -> str:
        coded = self.headers.get("Authorization", "").removeprefix("Basic ")
        return base64.b64decode(coded).decode()

    def _git(self, path: str, query: str, body: bytes) -> None:
        is_old = self.path.startswith("/old/")
        env = {
            "PATH": os.environ["PATH"],
            **NO_SETTINGS,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_PROTOCOL": "" if is_old else self.headers.get("Git-Protocol", ""),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": "*",
            "REQUEST_METHOD": self.command,
            "PATH_INFO": f"/{path}",
            "QUERY_STRING": query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
        }
        done = subprocess.run(
            ["git", "http-backend"], input=body, env=env, capture_output=True, check=False
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if line)
        status = int(fields.pop("Status", "200").split()[0])
        self._say(status, content, **fields)

    def _say(self, status: int, content: bytes, **fields: str) -> None:
        self.send_response(status, HTTPStatus(status).phrase)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def serving(root: Path, pair: tuple[Path, Path], port: int = 0) -> Iterator[GitServer]:
    """Serve the repositories below ``root`` until the context ends."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    handler = type("Handler", (_Handler,), {"root": root})
    server = http.server.ThreadingHTTPServer(("0.0.0.0", port), handler)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # who does not trust it
    server.socket = context.wrap_socket(
        server.socket, server_side=True, do_handshake_on_connect=False
    )
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield GitServer(int(server.server_address[1]), pair[0].read_text())
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def main() -> None:
    """``git_server.py ROOT CERTIFICATE KEY PORT``, until standard input ends."""
    root, made, key, port = sys.argv[1:]
    with serving(Path(root), (Path(made), Path(key)), int(port)):
        print("listening", flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
