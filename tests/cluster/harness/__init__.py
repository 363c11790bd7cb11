"""One real Kubernetes node on a bare Debian machine, for tests; see ``tests/cluster/README.md``."""
