"""Certificates of one cluster, made with openssl; written once, valid for a year.

Elliptic curve keys, because eight RSA keys would cost more than a second.
"""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from cluster.harness import layout
from cluster.harness.errors import HarnessError

VALID_DAYS = 365


@dataclass(frozen=True, slots=True)
class Identity:
    """One certificate: the file's name, its subject and, for a server, what it answers to."""

    name: str
    subject: str
    hosts: tuple[str, ...] = ()
    is_client: bool = True


IDENTITIES = (
    Identity(
        "apiserver",
        "/CN=kube-apiserver",
        hosts=(
            "DNS:kubernetes",
            "DNS:kubernetes.default",
            "DNS:kubernetes.default.svc",
            f"DNS:kubernetes.default.svc.{layout.CLUSTER_DOMAIN}",
            "DNS:localhost",
            "IP:127.0.0.1",
            f"IP:{layout.API_SERVICE_ADDRESS}",
            f"IP:{layout.NODE_ADDRESS}",
        ),
        is_client=False,
    ),
    Identity("admin", "/O=system:masters/CN=admin"),
    Identity("kube-controller-manager", "/CN=system:kube-controller-manager"),
    Identity("kube-scheduler", "/CN=system:kube-scheduler"),
    Identity("kube-proxy", "/CN=system:kube-proxy"),
    Identity("coredns", "/CN=system:coredns"),
    Identity(
        "kubelet",
        f"/O=system:nodes/CN=system:node:{layout.NODE_NAME}",
        hosts=(f"DNS:{layout.NODE_NAME}", f"IP:{layout.NODE_ADDRESS}"),
    ),
)


def extensions(identity: Identity) -> str:
    """X.509 extensions of a certificate, as openssl's configuration lines."""
    usages = ["clientAuth"] * identity.is_client + ["serverAuth"] * bool(identity.hosts)
    lines = [f"extendedKeyUsage={','.join(usages)}"]
    if identity.hosts:
        lines.append(f"subjectAltName={','.join(identity.hosts)}")
    return "\n".join(lines) + "\n"


def write_pki(folder: Path) -> None:
    """Write the authority, a pair for each identity and the service accounts' key."""
    folder.mkdir(parents=True, exist_ok=True)
    _key(folder, "ca")
    _openssl(
        folder,
        *("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=proctor-test-ca"),
        *("-days", str(VALID_DAYS), "-out", "ca.crt"),
    )
    _openssl(folder, "genrsa", "-out", "service-accounts.key", "2048")
    for identity in IDENTITIES:
        _sign(folder, identity)


def _sign(folder: Path, identity: Identity) -> None:
    name = identity.name
    _key(folder, name)
    (folder / f"{name}.ext").write_text(extensions(identity))
    _openssl(
        folder,
        *("req", "-new", "-key", f"{name}.key", "-subj", identity.subject, "-out", f"{name}.csr"),
    )
    _openssl(
        folder,
        *("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key"),
        *("-CAcreateserial", "-days", str(VALID_DAYS), "-extfile", f"{name}.ext"),
        *("-out", f"{name}.crt"),
    )


def _key(folder: Path, name: str) -> None:
    _openssl(folder, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["openssl", *arguments], cwd=folder, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        raise HarnessError(f"openssl {arguments[0]} failed in {folder}: {done.stderr.strip()}")
