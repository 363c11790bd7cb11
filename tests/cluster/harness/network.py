"""The network of the cluster: loopback and a node address with nothing behind it.

Runs inside the network namespace. There is no way out to any network.
"""

import subprocess
from pathlib import Path

from cluster.harness import layout
from cluster.harness.errors import HarnessError

SYSCTLS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/route_localnet": "1",
}
BRIDGE_SYSCTL = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


def set_up_network() -> None:
    """Give the namespace its node address; a veth pair, as not every kernel has ``dummy``."""
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "node0", "type", "veth", "peer", "name", "node0p")
    _ip("link", "set", "node0p", "up")
    _ip("addr", "add", f"{layout.NODE_ADDRESS}/{layout.NODE_PREFIX}", "dev", "node0")
    _ip("link", "set", "node0", "up")
    _ip("route", "add", "default", "dev", "node0")
    for name, value in SYSCTLS.items():
        (Path("/proc/sys") / name).write_text(value)
    if BRIDGE_SYSCTL.exists():
        BRIDGE_SYSCTL.write_text("1")


def _ip(*arguments: str) -> None:
    done = subprocess.run(["ip", *arguments], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise HarnessError(f"ip {' '.join(arguments)} failed: {done.stderr.strip()}")
