"""The few calls of the Kubernetes API that the tool itself makes, with the admin's certificate."""

import http.client
import json
import ssl
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cluster.harness import layout
from cluster.harness.configs import Document
from cluster.harness.errors import HarnessError


class Api:
    """Talks to the API server on loopback, so only from inside the network namespace."""

    def __init__(self, pki: Path) -> None:
        """Read the admin's certificate from ``pki``."""
        self._tls = ssl.create_default_context(cafile=str(pki / "ca.crt"))
        self._tls.load_cert_chain(pki / "admin.crt", pki / "admin.key")

    def request(self, method: str, path: str, body: Document | None = None) -> tuple[int, Any]:
        """Do one call; the answer's status and its JSON, or its text when it is none."""
        connection = http.client.HTTPSConnection(
            "127.0.0.1", layout.API_PORT, context=self._tls, timeout=10
        )
        try:
            payload = None if body is None else json.dumps(body)
            connection.request(method, path, payload, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read().decode()
            return answer.status, json.loads(text) if text.startswith("{") else text
        finally:
            connection.close()

    def is_ready(self) -> bool:
        """Say whether the API server takes requests."""
        try:
            return self.request("GET", "/readyz")[0] == 200
        except OSError:
            return False

    def create(self, path: str, body: Document) -> None:
        """Create an object; one that is there already is fine."""
        status, answer = self.request("POST", path, body)
        if status not in (200, 201, 409):
            raise HarnessError(f"POST {path} was answered {status}: {answer}")

    def node_is_ready(self) -> bool:
        """Say whether the node is registered and Ready."""
        status, node = self.request("GET", f"/api/v1/nodes/{layout.NODE_NAME}")
        conditions = node["status"].get("conditions", []) if status == 200 else []
        return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)

    def has_default_account(self) -> bool:
        """Say whether pods can be created in the default namespace."""
        path = "/api/v1/namespaces/default/serviceaccounts/default"
        return bool(self.request("GET", path)[0] == 200)


def wait_until(
    claim: Callable[[], bool], what: str, seconds: float, check: Callable[[], None]
) -> None:
    """Wait for ``claim``; ``check`` raises when waiting on makes no sense.

    Raises:
        HarnessError: ``what`` did not come true in time.
    """
    deadline = time.monotonic() + seconds
    while not claim():
        check()
        if time.monotonic() > deadline:
            raise HarnessError(f"{what}: not after {seconds:.0f} s; see the command `logs`")
        time.sleep(0.1)
