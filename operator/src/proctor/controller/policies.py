"""NetworkPolicies of trial pods, as documents: one for each namespace and mode (pure).

Policies are additive and hold for a whole pod: the agent reaches whatever ``grade`` reaches.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from proctor.api.addresses import NOT_PUBLIC_V4, NOT_PUBLIC_V6, PUBLIC_V6, within
from proctor.api.egress import EgressMode
from proctor.controller.cluster import NETWORK_POLICIES
from proctor.controller.names import (
    EGRESS_LABEL,
    FETCH_LABEL,
    FETCHES_GIT,
    MANAGED_BY,
    MANAGED_BY_LABEL,
)
from proctor.controller.settings import Endpoint, NetworkSettings

_NAMESPACE = "kubernetes.io/metadata.name"
ANY_V4 = "0.0.0.0/0"


def policy_name(mode: EgressMode) -> str:
    """Name of the policy of a mode, in every namespace."""
    return f"proctor-trial-{mode.value.lower()}"


FETCH_POLICY = "proctor-trial-fetch"
POLICY_NAMES = frozenset({*(policy_name(mode) for mode in EgressMode), FETCH_POLICY})


def reachable(
    mode: EgressMode, network: NetworkSettings, *, fetches: bool = False
) -> tuple[Endpoint, ...]:
    """Our own Services that trials of a mode may reach; each by one port."""
    proxy, results = network.egress_proxy, network.results
    by_proxy = mode is EgressMode.ALLOW_LIST or fetches
    return (
        network.gateway,
        *((results,) if results else ()),
        *((proxy,) if by_proxy and proxy else ()),
    )


def trial_policy(namespace: str, mode: EgressMode, network: NetworkSettings) -> dict[str, Any]:
    """The policy of one mode: nothing comes in, and only this goes out."""
    egress = [_to(endpoint) for endpoint in reachable(mode, network)]
    if mode is EgressMode.OPEN:
        egress += [_names(network), _internet(network)]
    return _policy(namespace, policy_name(mode), {EGRESS_LABEL: mode.value}, egress)


def fetch_policy(namespace: str, network: NetworkSettings) -> dict[str, Any]:
    """The policy of pods that fetch a repository, beside that of their mode: the egress proxy.

    It holds for the agent too, which has no pass for the proxy.
    """
    proxy = network.egress_proxy
    egress = [] if proxy is None else [_to(proxy)]
    return _policy(namespace, FETCH_POLICY, {FETCH_LABEL: FETCHES_GIT}, egress)


def _policy(
    namespace: str, name: str, labels: Mapping[str, str], egress: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    return {
        "apiVersion": NETWORK_POLICIES.api_version,
        "kind": NETWORK_POLICIES.name,
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {MANAGED_BY_LABEL: MANAGED_BY},
        },
        "spec": {
            "podSelector": {"matchLabels": dict(labels)},
            "policyTypes": ["Ingress", "Egress"],
            "egress": list(egress),
        },
    }


def correction(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch from a spec that was found to the one that should be; empty: it is that.

    A policy is never deleted to be made again: in between its pods would be open.
    """
    patch: dict[str, Any] = {}
    for key in {**found, **wanted}:
        old, new = found.get(key), wanted.get(key)
        if isinstance(old, dict) and isinstance(new, dict):
            inner = correction(old, new)
            if inner:
                patch[key] = inner
        elif (old or None) != (new or None):
            patch[key] = new
    return patch


def lets_through(spec: Mapping[str, Any]) -> bool:
    """Whether somebody's policy lets anything in or out.

    One that only closes takes nothing away from ours, and adds nothing to it.
    """
    return bool(spec.get("ingress")) or bool(spec.get("egress"))


def selects(spec: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a policy holds for a pod with these labels."""
    selector = spec.get("podSelector") or {}
    wanted = (selector.get("matchLabels") or {}).items()
    if any(labels.get(name) != value for name, value in wanted):
        return False
    return all(_matches(one, labels) for one in selector.get("matchExpressions") or ())


def _to(endpoint: Endpoint) -> dict[str, Any]:
    peer = {
        "namespaceSelector": {"matchLabels": {_NAMESPACE: endpoint.namespace}},
        "podSelector": {"matchLabels": dict(endpoint.pod_labels)},
    }
    return {"to": [peer], "ports": [{"protocol": "TCP", "port": endpoint.port}]}


def _names(network: NetworkSettings) -> dict[str, Any]:
    """DNS, wherever the cluster has it: some answer on the node, and no label is everywhere."""
    return {
        "ports": [
            {"protocol": protocol, "port": port}
            for port in network.dns_ports
            for protocol in ("UDP", "TCP")
        ]
    }


def _internet(network: NetworkSettings) -> dict[str, Any]:
    closed = network.cluster_ranges
    return {
        "to": [
            _block(ANY_V4, (*NOT_PUBLIC_V4, *closed)),
            _block(PUBLIC_V6, (*NOT_PUBLIC_V6, *closed)),
        ]
    }


def _block(cidr: str, closed: Sequence[str]) -> dict[str, Any]:
    return {"ipBlock": {"cidr": cidr, "except": list(dict.fromkeys(within(cidr, closed)))}}


def _matches(expression: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    key, values = expression["key"], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case _:
            return key not in labels
