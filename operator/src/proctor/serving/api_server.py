"""The command line's part about the API server."""

import argparse
from collections.abc import Mapping
from pathlib import Path

from proctor.api.errors import UserError
from proctor.serving.kube import ApiServer

_SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


def add_api_server(parser: argparse.ArgumentParser) -> None:
    """Add the options that ``api_server`` reads."""
    parser.add_argument("--api-server", help="URL of the API server; absent: the pod's own")
    parser.add_argument("--api-token-file", type=Path, default=_SERVICE_ACCOUNT / "token")
    parser.add_argument("--api-ca-file", type=Path)


def api_server(options: argparse.Namespace, environment: Mapping[str, str]) -> ApiServer:
    """The API server that the options name, or the pod's own.

    Raises:
        UserError: There is none.
    """
    if options.api_server is not None:
        return ApiServer(
            options.api_server.rstrip("/"), options.api_token_file, options.api_ca_file
        )
    host = environment.get("KUBERNETES_SERVICE_HOST")
    if not host:
        raise UserError("not in a cluster: name the API server with --api-server")
    port = environment.get("KUBERNETES_SERVICE_PORT", "443")
    host = f"[{host}]" if ":" in host else host
    ca_file = options.api_ca_file or _SERVICE_ACCOUNT / "ca.crt"
    return ApiServer(f"https://{host}:{port}", options.api_token_file, ca_file)
