"""What confines the network of a trial's pod, as parts of its document (pure)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from proctor.controller.names import EGRESS_PASS, FETCH_PASS
from proctor.controller.settings import NetworkSettings
from proctor.planning.reserved import PRIVATE

FINDING = "/dev/termination-log"
PASS_VOLUME, PASS_FOLDER = "egress-pass", f"{PRIVATE}/egress"
FETCH_PASS_VOLUME, FETCH_PASS_FOLDER = "fetch-pass", f"{PRIVATE}/fetch"


@dataclass(frozen=True, slots=True)
class HostAlias:
    """A name of ours with its addresses: trials have no DNS."""

    hostname: str
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Confinement:
    """What a pod is told of its network.

    Args:
        aliases: Hosts of ours that it may need; empty: it finds them by DNS.
    """

    aliases: tuple[HostAlias, ...] = ()

    @property
    def has_dns(self) -> bool:
        """Whether it asks the cluster's DNS."""
        return not self.aliases


def pass_volume() -> dict[str, Any]:
    """The pod's pass for the egress proxy, as a file.

    It is signed for the trial's UID and a time, so it stands in an annotation, which is no part of
    the shape that pods are compared by.
    """
    return _annotation_volume(PASS_VOLUME, EGRESS_PASS)


def fetch_pass_volume() -> dict[str, Any]:
    """The pass of ``stage``, which no other container mounts."""
    return _annotation_volume(FETCH_PASS_VOLUME, FETCH_PASS)


def _annotation_volume(name: str, annotation: str) -> dict[str, Any]:
    field = {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{annotation}']"}
    item = {"path": "pass", "fieldRef": field}
    return {"name": name, "downwardAPI": {"items": [item], "defaultMode": 0o444}}


def pass_words(folder: str = PASS_FOLDER) -> list[str]:
    """Where the pass is, as arguments of every phase that has it."""
    return ["--egress-pass-file", f"{folder}/pass"]


def proxy_words(network: NetworkSettings, folder: str = PASS_FOLDER) -> list[str]:
    """Arguments of a container that goes through the proxy: where it is, and the pass."""
    proxy = network.egress_proxy
    if proxy is None:
        return []
    url = f"http://{proxy.host}:{proxy.port}"
    return ["--egress-proxy", url, *pass_words(folder)]


def proof(network: NetworkSettings) -> list[str]:
    """Arguments of ``stage``: what it must and must not reach."""
    gateway = network.gateway
    words = [
        "--must-reach", f"{gateway.host}:{gateway.port}",
        "--must-not-reach", f"{gateway.host}:{gateway.canary}",
        "--finding", FINDING,
    ]  # fmt: skip
    return words if network.require_enforcement else [*words, "--only-report"]


def names(aliases: Iterable[HostAlias], has_dns: bool) -> dict[str, Any]:
    """How the pod finds hosts: by these names, and by the cluster's DNS where it has one.

    A name server that nobody is refuses at once; a query that is dropped stalls agents for seconds.
    """
    hosts = [
        {"ip": address, "hostnames": [alias.hostname]}
        for alias in aliases
        for address in alias.addresses
    ]
    known = {"hostAliases": hosts} if hosts else {}
    if has_dns:
        return {"dnsPolicy": "ClusterFirst", **known}
    return {"dnsPolicy": "None", "dnsConfig": {"nameservers": ["127.0.0.1"]}, **known}
