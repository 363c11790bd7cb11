"""The results server, as the command line reaches it: by address, or by the API server's proxy.

It gets a short-lived token for its own audience, never the user's.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from proctor.api.errors import UserError
from proctor.api.results import AUDIENCE, TOKEN_HEADER
from proctor.cli.kube import Kube, KubeError
from proctor.store.client import ResultsClient

Command = TypeVar("Command", bound=Callable[..., Any])

DEFAULT_SERVER = "proctor-system/proctor-results"


@dataclass(frozen=True, slots=True)
class Account:
    """The usual service account of a command.

    Args:
        variable: Of the environment, which names another one.
        role: How kubectl binds it to what it needs.
        made: How kubectl makes that role; empty: it is there.
    """

    name: str
    variable: str
    role: str
    made: str = ""


READER = Account("proctor-reader", "PROCTOR_RESULTS_ACCOUNT", "--clusterrole=view")
WRITER = Account(
    "proctor-writer",
    "PROCTOR_PUSH_ACCOUNT",
    "--role=proctor-writer",
    "create role proctor-writer --verb=create --resource=evalruns.proctor.dev",
)


def server_options(command: Command) -> Command:
    """Add the options that say where the server is and who reads."""
    return _with_options(command, READER)


def push_options(command: Command) -> Command:
    """Add the options that say where the server is and who sends."""
    return _with_options(command, WRITER)


def _with_options(command: Command, account: Account) -> Command:
    for option in (
        click.option(
            "--service-account",
            default=account.name,
            show_default=True,
            envvar=account.variable,
            metavar="NAME",
            help="Of the namespace; the server sees what it may see.",
        ),
        click.option(
            "--server",
            default=DEFAULT_SERVER,
            show_default=True,
            envvar="PROCTOR_RESULTS_SERVER",
            metavar="NAMESPACE/SERVICE|URL",
            help="The results server.",
        ),
        click.option("-n", "--namespace", metavar="NAME", help="[default: the kubeconfig's]"),
    ):
        command = option(command)
    return command


def reach(
    kube: Kube, namespace: str, server: str, name: str, account: Account = READER
) -> ResultsClient:
    """A client of the server, as the service account ``name``; ``account`` is the usual one.

    Raises:
        UserError: No token is to be had, with what to do.
    """
    token = _token(kube, namespace, name, account)
    if "://" in server:
        return ResultsClient(server.rstrip("/"), lambda: {TOKEN_HEADER: token})
    place, separator, service = server.partition("/")
    if not separator:
        raise UserError(f"--server {server}: neither NAMESPACE/SERVICE nor a URL")

    def headers() -> Mapping[str, str]:
        return {**kube.headers(), TOKEN_HEADER: token}

    path = f"/api/v1/namespaces/{place}/services/{service}:read/proxy"
    return ResultsClient(kube.connection.server + path, headers, kube.tls)


def _token(kube: Kube, namespace: str, name: str, account: Account) -> str:
    try:
        return kube.token(namespace, name, AUDIENCE)
    except KubeError as error:
        if error.status != 404:
            raise
        commands = (
            f"create serviceaccount {name}",
            account.made,
            f"create rolebinding {name} {account.role} --serviceaccount={namespace}:{name}",
        )
        lines = [f"  kubectl -n {namespace} {command}" for command in commands if command]
        raise UserError("\n".join([f"{error}: make it with", *lines])) from None
