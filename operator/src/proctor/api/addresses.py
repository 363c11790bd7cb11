"""Addresses that are nobody's on the public internet. Standard library only.

No trial reaches them in mode Open, and the egress proxy connects to none of them.
Source: IANA's special-purpose registries for IPv4 and IPv6, multicast included; read 2026-11.
https://www.iana.org/assignments/iana-ipv4-special-registry
https://www.iana.org/assignments/iana-ipv6-special-registry
"""

from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NOT_PUBLIC_V4 = (
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",  # shared with carriers; pods and services of some clusters
    "127.0.0.0/8",
    "169.254.0.0/16",  # link-local: the metadata address of clouds
    "172.16.0.0/12",
    "192.0.0.0/24",
    "192.0.2.0/24",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "224.0.0.0/4",
    "240.0.0.0/4",
)
PUBLIC_V6 = "2000::/3"
"""The only block that public addresses of IPv6 come from."""

NOT_PUBLIC_V6 = (
    "2001::/23",
    "2001:db8::/32",
    "2002::/16",  # 6to4: an IPv4 address in disguise
    "3fff::/20",
)

_PUBLIC = {4: ip_network("0.0.0.0/0"), 6: ip_network(PUBLIC_V6)}
_NOT_PUBLIC = tuple(ip_network(block) for block in (*NOT_PUBLIC_V4, *NOT_PUBLIC_V6))


def is_public(address: str, cluster_ranges: Iterable[str] = ()) -> bool:
    """Whether an address is one of the public internet, and none of the cluster's.

    Raises:
        ValueError: It is no address.
    """
    found = ip_address(address)
    closed = (*_NOT_PUBLIC, *(ip_network(block) for block in cluster_ranges))
    return found in _PUBLIC[found.version] and not any(
        found.version == block.version and found in block for block in closed
    )


def within(outer: str, blocks: Iterable[str]) -> tuple[str, ...]:
    """The blocks that lie in ``outer``: a NetworkPolicy may leave out no others."""
    limit = ip_network(outer)
    return tuple(block for block in blocks if _lies_in(ip_network(block), limit))


def _lies_in(block: Network, limit: Network) -> bool:
    if isinstance(block, IPv4Network) and isinstance(limit, IPv4Network):
        return block.subnet_of(limit)
    if isinstance(block, IPv6Network) and isinstance(limit, IPv6Network):
        return block.subnet_of(limit)
    return False
