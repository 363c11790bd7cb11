"""Addresses, and paths as the cluster's own processes see them.

The cluster has its own /run, /var/lib and /var/log (see ``supervisor``), so these are constants,
whatever state folder is behind them, and the usual defaults where Kubernetes has some.
"""

NODE_NAME = "node0"
NODE_ADDRESS = "198.18.0.10"  # RFC 2544 benchmark range: never a real host's
NODE_PREFIX = 24
API_PORT = 6443
SERVICE_RANGE = "10.96.0.0/16"
API_SERVICE_ADDRESS = "10.96.0.1"
DNS_SERVICE_ADDRESS = "10.96.0.10"
POD_RANGE = "10.244.0.0/20"
CLUSTER_DOMAIN = "cluster.local"

CONFIG = "/var/lib/cluster"
PKI = f"{CONFIG}/pki"
KUBELET = "/var/lib/kubelet"
ETCD = "/var/lib/etcd"
LOG = "/var/log/cluster"
CONTAINERD_ROOT = "/var/lib/containerd"
CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
CNI_PLUGINS = "/usr/lib/cni"
CNI_CONFIG = f"{CONFIG}/cni"

PAUSE_IMAGE = "cluster.test/pause:1"
