"""Objects that the cluster holds from its start: DNS as a Service, and CoreDNS's rights."""

from cluster.harness import layout
from cluster.harness.configs import Document

Created = tuple[str, Document]


def first_objects() -> tuple[Created, ...]:
    """Pairs of an API path and the object to create there, in order."""
    namespaced = "/apis/discovery.k8s.io/v1/namespaces/kube-system/endpointslices"
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    return (
        ("/api/v1/namespaces/kube-system/services", _dns_service()),
        (namespaced, _dns_endpoints()),
        (f"{rbac}/clusterroles", _dns_role()),
        (f"{rbac}/clusterrolebindings", _dns_binding()),
    )


def _dns_service() -> Document:
    ports = [{"name": f"dns-{p.lower()}", "port": 53, "protocol": p} for p in ("UDP", "TCP")]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "kube-dns", "labels": {"k8s-app": "kube-dns"}},
        "spec": {"clusterIP": layout.DNS_SERVICE_ADDRESS, "ports": ports},
    }


def _dns_endpoints() -> Document:
    ports = [{"name": f"dns-{p.lower()}", "port": 53, "protocol": p} for p in ("UDP", "TCP")]
    return {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {"name": "kube-dns", "labels": {"kubernetes.io/service-name": "kube-dns"}},
        "addressType": "IPv4",
        "endpoints": [{"addresses": [layout.NODE_ADDRESS], "conditions": {"ready": True}}],
        "ports": ports,
    }


def _dns_role() -> Document:
    verbs = ["list", "watch"]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "system:coredns"},
        "rules": [
            {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": verbs},
            {
                "apiGroups": ["discovery.k8s.io"],
                "resources": ["endpointslices"],
                "verbs": verbs,
            },
        ],
    }


def _dns_binding() -> Document:
    group = "rbac.authorization.k8s.io"
    return {
        "apiVersion": f"{group}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "system:coredns"},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": "system:coredns"},
        "subjects": [{"apiGroup": group, "kind": "User", "name": "system:coredns"}],
    }
