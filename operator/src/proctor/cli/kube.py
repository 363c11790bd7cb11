"""The API server, as the command line asks it: blocking, by the user's kubeconfig."""

import http.client
import json
import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import yaml

from proctor.api.base import GROUP, VERSION
from proctor.api.errors import UserError
from proctor.controller.kube.connection import Connection, find_connection

_TIMEOUT_SECONDS = 30


class KubeError(UserError):
    """The API server refused, or cannot be asked; the message says what and how to go on.

    Args:
        status: HTTP status; 0: there was no answer.
    """

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Kube:
    """Asks one API server as one user."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        tls = connection.tls()
        self.tls = tls if isinstance(tls, ssl.SSLContext) else None

    def trials(self, namespace: str, run: str) -> list[Mapping[str, Any]]:
        """All EvalTrials of a run, in the order of task, variant, repeat."""
        query = urlencode({"labelSelector": f"{GROUP}/run={run}"})
        path = f"/apis/{GROUP}/{VERSION}/namespaces/{_quoted(namespace)}/evaltrials?{query}"
        items: list[Mapping[str, Any]] = self.ask("GET", path)["items"]
        return sorted(items, key=lambda one: _order(one["spec"]))

    def pod_log(self, namespace: str, pod: str, container: str) -> str | None:
        """What a container printed; None when there is no such pod, or it has not started."""
        place = f"/api/v1/namespaces/{_quoted(namespace)}/pods/{_quoted(pod)}/log"
        try:
            return self._send("GET", f"{place}?{urlencode({'container': container})}").decode(
                errors="replace"
            )
        except KubeError as error:
            if error.status in (400, 404):
                return None
            raise

    def token(self, namespace: str, account: str, audience: str) -> str:
        """A token of a service account for one audience, good for ten minutes.

        Raises:
            KubeError: There is no such account, or the user may not ask for its tokens.
        """
        path = f"/api/v1/namespaces/{_quoted(namespace)}/serviceaccounts/{_quoted(account)}/token"
        spec = {"audiences": [audience], "expirationSeconds": 600}
        kind = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest"}
        return str(self.ask("POST", path, {**kind, "spec": spec})["status"]["token"])

    def ask(self, verb: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """An answer in JSON; ``KubeError`` when it is refused."""
        return json.loads(self._send(verb, path, body))

    def headers(self) -> dict[str, str]:
        """Who is asking."""
        token = self.connection.token()
        return {"Authorization": f"Bearer {token}"} if token else {}

    def _send(self, verb: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        parts = urlsplit(self.connection.server)
        host, port = parts.hostname or "", parts.port
        link = (
            http.client.HTTPSConnection(host, port, timeout=_TIMEOUT_SECONDS, context=self.tls)
            if parts.scheme == "https"
            else http.client.HTTPConnection(host, port, timeout=_TIMEOUT_SECONDS)
        )
        data = None if body is None else json.dumps(body).encode()
        try:
            own = {**self.headers(), "Content-Type": "application/json"}
            link.request(verb, parts.path + path, body=data, headers=own)
            response = link.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise KubeError(f"the API server {host} cannot be reached: {error}") from error
        finally:
            link.close()
        if response.status >= 300:
            raise KubeError(_message(content, response), response.status)
        return content


def connect() -> Kube:
    """The cluster of the kubeconfig, or of the pod that this runs in; ``UserError`` without."""
    return Kube(find_connection())


def current_namespace(environ: Mapping[str, str] = os.environ) -> str:
    """The namespace of the kubeconfig's current context, else ``default``."""
    path = Path(environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")
    try:
        config = yaml.safe_load(path.read_text("utf-8")) or {}
    except OSError:
        return "default"
    for entry in config.get("contexts") or ():
        if entry.get("name") == config.get("current-context"):
            return str((entry.get("context") or {}).get("namespace") or "default")
    return "default"


def _order(spec: Mapping[str, Any]) -> tuple[str, str, int]:
    return spec["task"], spec["variant"], spec["repeat"]


def _message(content: bytes, response: http.client.HTTPResponse) -> str:
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return f"{response.status} {response.reason}"


def _quoted(name: str) -> str:
    return quote(name, safe="")
