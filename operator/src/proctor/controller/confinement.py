"""What confines the network of a trial's pod, as parts of its document (pure)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from proctor.controller.settings import NetworkSettings

FINDING = "/dev/termination-log"


@dataclass(frozen=True, slots=True)
class HostAlias:
    """A name of ours with its addresses: trials have no DNS."""

    hostname: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a pod is told of its network.

    Args:
        aliases: Empty: it has DNS.
    """

    aliases: tuple[HostAlias, ...] = ()


def proof(network: NetworkSettings) -> list[str]:
    """Arguments of ``stage``: what it must and must not reach."""
    gateway = network.gateway
    words = [
        "--must-reach", f"{gateway.host}:{gateway.port}",
        "--must-not-reach", f"{gateway.host}:{gateway.canary}",
        "--finding", FINDING,
    ]  # fmt: skip
    return words if network.require_enforcement else [*words, "--only-report"]


def names(aliases: Iterable[HostAlias]) -> dict[str, Any]:
    """How the pod finds hosts: by these names only, or, without any, by the cluster's DNS.

    A name server that nobody is refuses at once; a query that is dropped stalls agents for seconds.
    """
    hosts = [
        {"ip": address, "hostnames": [alias.hostname]}
        for alias in aliases
        for address in alias.addresses
    ]
    if not hosts:
        return {"dnsPolicy": "ClusterFirst"}
    return {
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "hostAliases": hosts,
    }
