"""The processes of the cluster and their command lines; does no I/O."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cluster.harness import layout

CLIENT_LIMITS = ("--kube-api-qps=500", "--kube-api-burst=1000")
ETCD_URL = "http://127.0.0.1:2379"


@dataclass(frozen=True, slots=True)
class Component:
    """One process: its name, which is its log's too, and its command line."""

    name: str
    argv: tuple[str, ...]


def runtime_components(binaries: Mapping[str, Path]) -> tuple[Component, ...]:
    """What starts first and side by side: nothing of it needs the API."""
    return (
        Component("containerd", ("containerd", "--config", f"{layout.CONFIG}/containerd.toml")),
        Component("etcd", _etcd(binaries["etcd"])),
        Component("kube-apiserver", _apiserver(binaries["kube-apiserver"])),
    )


def api_components(binaries: Mapping[str, Path]) -> tuple[Component, ...]:
    """What starts once the API answers."""
    return (
        Component(
            "kube-controller-manager",
            (
                *_api_user(binaries, "kube-controller-manager"),
                f"--root-ca-file={layout.PKI}/ca.crt",
                f"--service-account-private-key-file={layout.PKI}/service-accounts.key",
                f"--cluster-signing-cert-file={layout.PKI}/ca.crt",
                f"--cluster-signing-key-file={layout.PKI}/ca.key",
                "--use-service-account-credentials=true",
                f"--cluster-cidr={layout.POD_RANGE}",
                "--allocate-node-cidrs=false",
            ),
        ),
        Component("kube-scheduler", _api_user(binaries, "kube-scheduler")),
        Component("kubelet", _kubelet(binaries["kubelet"])),
        Component("kube-proxy", _proxy(binaries["kube-proxy"])),
        Component("coredns", (str(binaries["coredns"]), "-conf", f"{layout.CONFIG}/Corefile")),
    )


def optional_components(
    binaries: Mapping[str, Path], extras: Sequence[str]
) -> tuple[Component, ...]:
    """What starts only when asked for; both have the administrator's rights."""
    config = f"{layout.CONFIG}/admin.conf"
    known = {
        "kube-router": (
            f"--kubeconfig={config}",
            f"--hostname-override={layout.NODE_NAME}",
            "--run-router=false",
            "--run-firewall=true",
            "--run-service-proxy=false",
            "--run-loadbalancer=false",
            f"--service-cluster-ip-range={layout.SERVICE_RANGE}",
        ),
        "kwok": (f"--kubeconfig={config}", f"--config={layout.CONFIG}/kwok.yaml"),
    }
    return tuple(Component(name, (str(binaries[name]), *known[name])) for name in extras)


def _etcd(binary: Path) -> tuple[str, ...]:
    peer = "http://127.0.0.1:2380"
    return (
        str(binary),
        f"--data-dir={layout.ETCD}",
        f"--listen-client-urls={ETCD_URL}",
        f"--advertise-client-urls={ETCD_URL}",
        f"--listen-peer-urls={peer}",
        "--unsafe-no-fsync",
    )


def _apiserver(binary: Path) -> tuple[str, ...]:
    return (
        str(binary),
        f"--etcd-servers={ETCD_URL}",
        f"--service-cluster-ip-range={layout.SERVICE_RANGE}",
        f"--tls-cert-file={layout.PKI}/apiserver.crt",
        f"--tls-private-key-file={layout.PKI}/apiserver.key",
        f"--client-ca-file={layout.PKI}/ca.crt",
        f"--requestheader-client-ca-file={layout.PKI}/ca.crt",
        "--requestheader-allowed-names=front-proxy",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        "--service-account-issuer=https://kubernetes.default.svc",
        f"--service-account-signing-key-file={layout.PKI}/service-accounts.key",
        f"--service-account-key-file={layout.PKI}/service-accounts.key",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        f"--advertise-address={layout.NODE_ADDRESS}",
        "--bind-address=0.0.0.0",
        f"--secure-port={layout.API_PORT}",
        f"--kubelet-client-certificate={layout.PKI}/admin.crt",
        f"--kubelet-client-key={layout.PKI}/admin.key",
        f"--kubelet-certificate-authority={layout.PKI}/ca.crt",
        "--kubelet-preferred-address-types=InternalIP",
        f"--cert-dir={layout.PKI}/self",
    )


def _api_user(binaries: Mapping[str, Path], name: str) -> tuple[str, ...]:
    config = f"{layout.CONFIG}/{name}.conf"
    return (
        str(binaries[name]),
        f"--kubeconfig={config}",
        f"--authentication-kubeconfig={config}",
        f"--authorization-kubeconfig={config}",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        f"--cert-dir={layout.PKI}/self",
        *CLIENT_LIMITS,
    )


def _kubelet(binary: Path) -> tuple[str, ...]:
    return (
        str(binary),
        f"--config={layout.CONFIG}/kubelet.json",
        f"--kubeconfig={layout.CONFIG}/kubelet.conf",
        f"--root-dir={layout.KUBELET}",
        f"--hostname-override={layout.NODE_NAME}",
        f"--node-ip={layout.NODE_ADDRESS}",
        f"--cert-dir={layout.PKI}/self",
    )


def _proxy(binary: Path) -> tuple[str, ...]:
    return (
        str(binary),
        f"--kubeconfig={layout.CONFIG}/kube-proxy.conf",
        "--proxy-mode=iptables",
        f"--cluster-cidr={layout.POD_RANGE}",
        f"--hostname-override={layout.NODE_NAME}",
        "--conntrack-max-per-core=0",
        "--bind-address=127.0.0.1",
    )
