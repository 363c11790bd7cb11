"""An S3 emulator."""

import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from moto.server import ThreadedMotoServer

BUCKET = "records"


@dataclass(slots=True)
class S3:
    """An emulator at an address; what it holds outlives a stop."""

    host: str
    port: int = 0
    _server: ThreadedMotoServer | None = field(default=None, repr=False)

    @property
    def endpoint(self) -> str:
        """Its URL, once it was started."""
        return f"http://{self.host}:{self.port}"

    def start(self) -> None:
        """Listen, at the same port as before."""
        self._server = ThreadedMotoServer(self.host, port=self.port, verbose=False)
        self._server.start()
        _, self.port = self._server.get_host_and_port()

    def stop(self) -> None:
        """Refuse connections."""
        if self._server is not None:
            self._server.stop()
            self._server = None


@contextmanager
def an_s3(host: str) -> Iterator[S3]:
    """An emulator that has one empty bucket."""
    emulator = S3(host)
    emulator.start()
    try:
        request = urllib.request.Request(f"{emulator.endpoint}/{BUCKET}", method="PUT")
        urllib.request.urlopen(request, timeout=10).close()
        yield emulator
    finally:
        emulator.stop()


@contextmanager
def running_s3() -> Iterator[dict[str, str]]:
    """obstore's settings of an emulator on loopback that has one empty bucket."""
    with an_s3("127.0.0.1") as emulator:
        yield {
            "endpoint": emulator.endpoint,
            "region": "us-east-1",
            "access_key_id": "test",
            "secret_access_key": "test",
        }
