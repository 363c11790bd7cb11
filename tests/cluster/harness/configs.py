"""The configuration files of the cluster's components, rendered from constants; does no I/O."""

import base64
import json
from typing import Any

from cluster.harness import layout

Document = dict[str, Any]


def containerd_config() -> str:
    """Configuration of containerd 1.6 (version 2 of its format, which containerd 2 reads too).

    ``restrict_oom_score_adj``: root in a sandbox may lack CAP_SYS_RESOURCE, and then no pod
    starts without it. AppArmor off: a profile would stay loaded on the host.
    """
    return f"""\
version = 2
root = "{layout.CONTAINERD_ROOT}"
state = "/run/containerd"
[grpc]
  address = "{layout.CONTAINERD_SOCKET}"
[plugins."io.containerd.internal.v1.opt"]
  path = "{layout.CONTAINERD_ROOT}/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{layout.PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{layout.CNI_PLUGINS}"
    conf_dir = "{layout.CNI_CONFIG}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
"""


def cni_config() -> Document:
    """Pod network: one bridge, addresses handed out by host-local, host ports."""
    ipam = {
        "type": "host-local",
        "ranges": [[{"subnet": layout.POD_RANGE}]],
        "routes": [{"dst": "0.0.0.0/0"}],
    }
    bridge = {
        "type": "bridge",
        "bridge": "cni0",
        "isGateway": True,
        "ipMasq": True,
        "hairpinMode": True,
        "ipam": ipam,
    }
    portmap = {"type": "portmap", "capabilities": {"portMappings": True}}
    return {"cniVersion": "0.4.0", "name": "pods", "plugins": [bridge, portmap]}


def kubelet_config(cgroup: str) -> Document:
    """Configuration of the kubelet; ``cgroup`` is the root below which it puts all pods."""
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "failCgroupV1": False,
        "failSwapOn": False,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{cgroup}",
        "containerRuntimeEndpoint": f"unix://{layout.CONTAINERD_SOCKET}",
        "clusterDNS": [layout.DNS_SERVICE_ADDRESS],
        "clusterDomain": layout.CLUSTER_DOMAIN,
        "resolvConf": "/dev/null",
        "volumePluginDir": f"{layout.KUBELET}/volume-plugins",
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": f"{layout.PKI}/ca.crt"},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": f"{layout.PKI}/kubelet.crt",
        "tlsPrivateKeyFile": f"{layout.PKI}/kubelet.key",
        "maxPods": 250,
        "serializeImagePulls": False,
        "evictionHard": {
            "memory.available": "200Mi",
            "nodefs.available": "1%",
            "imagefs.available": "1%",
        },
        "imageGCHighThresholdPercent": 100,
    }


def corefile() -> str:
    """CoreDNS on the node address; a name outside the cluster does not exist."""
    return f"""\
.:53 {{
    bind {layout.NODE_ADDRESS}
    errors
    ready 127.0.0.1:8181
    cache 5
    kubernetes {layout.CLUSTER_DOMAIN} in-addr.arpa {{
        kubeconfig {layout.CONFIG}/coredns.conf
    }}
}}
"""


def kubeconfig(authority: bytes, certificate: bytes, key: bytes) -> Document:
    """Kubeconfig of one identity with everything inside, so that the file can be copied."""
    cluster = {
        "server": f"https://127.0.0.1:{layout.API_PORT}",
        "certificate-authority-data": _base64(authority),
    }
    user = {"client-certificate-data": _base64(certificate), "client-key-data": _base64(key)}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "proctor-test", "cluster": cluster}],
        "users": [{"name": "user", "user": user}],
        "contexts": [
            {"name": "proctor-test", "context": {"cluster": "proctor-test", "user": "user"}}
        ],
        "current-context": "proctor-test",
    }


def render(document: Document) -> str:
    """Write a document as JSON, which every YAML reader understands."""
    return json.dumps(document, indent=2) + "\n"


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
