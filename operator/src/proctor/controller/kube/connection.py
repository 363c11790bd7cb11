"""Where the API server is and how to prove who we are: in a cluster, or from a kubeconfig."""

import base64
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from proctor.api.errors import UserError

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_TOKEN_SECONDS = 60.0
"""Projected tokens are renewed on disk; the file is read again this often."""


class NoClusterError(UserError):
    """No API server is known, or its kubeconfig uses what is not supported here."""


@dataclass(slots=True)
class TokenFile:
    """A bearer token that somebody renews on disk."""

    path: Path
    clock: Callable[[], float] = time.monotonic
    _token: str = ""
    _read_at: float = field(default=float("-inf"))

    def token(self) -> str:
        """The current token; ``OSError`` when it cannot be read."""
        now = self.clock()
        if now - self._read_at > _TOKEN_SECONDS:
            self._token = self.path.read_text(encoding="ascii").strip()
            self._read_at = now
        return self._token


@dataclass(frozen=True, slots=True)
class Connection:
    """An API server and our credentials.

    Args:
        server: Base URL without a trailing slash.
        ca_file: None: the system's authorities.
        certificate_file, key_file: Client certificate, or None.
        token_file: Renewed token, or None.
        static_token: Token of a kubeconfig, or None.
    """

    server: str
    ca_file: Path | None = None
    certificate_file: Path | None = None
    key_file: Path | None = None
    token_file: TokenFile | None = None
    static_token: str | None = None
    insecure: bool = False

    def token(self) -> str | None:
        """The bearer token to send now; None: the certificate is enough."""
        return self.token_file.token() if self.token_file else self.static_token

    def tls(self) -> ssl.SSLContext | bool:
        """The TLS context; True for plain HTTP, where it is not used."""
        if not self.server.startswith("https:"):
            return True
        context = ssl.create_default_context(cafile=str(self.ca_file) if self.ca_file else None)
        # Python 3.13 refuses authorities without a key usage, which many clusters have.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        if self.insecure:
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        if self.certificate_file:
            context.load_cert_chain(self.certificate_file, self.key_file)
        return context


def find_connection(environ: Mapping[str, str] = os.environ) -> Connection:
    """Look for a service account first, then for a kubeconfig.

    Raises:
        NoClusterError: With what to do.
    """
    host = environ.get("KUBERNETES_SERVICE_HOST")
    if host and (_SERVICE_ACCOUNT / "token").exists():
        port = environ.get("KUBERNETES_SERVICE_PORT", "443")
        name = f"[{host}]" if ":" in host else host
        return Connection(
            server=f"https://{name}:{port}",
            ca_file=_SERVICE_ACCOUNT / "ca.crt",
            token_file=TokenFile(_SERVICE_ACCOUNT / "token"),
        )
    path = Path(environ.get("KUBECONFIG") or Path.home() / ".kube" / "config")
    if not path.exists():
        raise NoClusterError(f"no service account and no {path}: set KUBECONFIG")
    return kubeconfig_connection(yaml.safe_load(path.read_text(encoding="utf-8")), path)


def kubeconfig_connection(config: Mapping[str, Any], path: Path) -> Connection:
    """Read the current context of a kubeconfig.

    Raises:
        NoClusterError: A name leads nowhere, or the user needs a plugin.
    """
    context = _named(config, "contexts", config.get("current-context"), path)["context"]
    cluster = _named(config, "clusters", context.get("cluster"), path)["cluster"]
    user = _named(config, "users", context.get("user"), path)["user"] or {}
    if "exec" in user or "auth-provider" in user:
        raise NoClusterError(f"{path}: credential plugins are not supported; use a token")
    token_file = user.get("tokenFile")
    return Connection(
        server=str(cluster["server"]).rstrip("/"),
        ca_file=_material(cluster, "certificate-authority", path),
        certificate_file=_material(user, "client-certificate", path),
        key_file=_material(user, "client-key", path),
        token_file=TokenFile(path.parent / token_file) if token_file else None,
        static_token=user.get("token"),
        insecure=bool(cluster.get("insecure-skip-tls-verify")),
    )


def _named(config: Mapping[str, Any], group: str, name: Any, path: Path) -> Mapping[str, Any]:
    for entry in config.get(group) or ():
        if entry.get("name") == name:
            found: Mapping[str, Any] = entry
            return found
    raise NoClusterError(f"{path}: {group} has no entry {name!r}")


def _material(entry: Mapping[str, Any], key: str, path: Path) -> Path | None:
    """A file of the entry; inline data goes to a private file, because TLS reads only files."""
    data = entry.get(f"{key}-data")
    if data:
        descriptor, name = tempfile.mkstemp(prefix="proctor-")
        with os.fdopen(descriptor, "wb") as file:
            file.write(base64.b64decode(data))
        return Path(name)
    return path.parent / entry[key] if entry.get(key) else None
