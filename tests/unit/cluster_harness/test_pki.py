import pytest

from cluster.harness import layout
from cluster.harness.pki import IDENTITIES, Identity, extensions


def identity(name):
    return next(each for each in IDENTITIES if each.name == name)


def test_a_client_has_no_hosts():
    assert extensions(Identity("x", "/CN=x")) == "extendedKeyUsage=clientAuth\n"


def test_a_server_answers_to_its_hosts():
    given = Identity("x", "/CN=x", hosts=("DNS:x", "IP:127.0.0.1"), is_client=False)
    assert extensions(given) == ("extendedKeyUsage=serverAuth\nsubjectAltName=DNS:x,IP:127.0.0.1\n")


def test_the_kubelet_is_client_and_server():
    assert "clientAuth,serverAuth" in extensions(identity("kubelet"))


def test_the_kubelet_is_the_node_it_registers():
    assert identity("kubelet").subject == f"/O=system:nodes/CN=system:node:{layout.NODE_NAME}"


@pytest.mark.parametrize(
    "host", ["DNS:kubernetes.default.svc", "IP:127.0.0.1", f"IP:{layout.API_SERVICE_ADDRESS}"]
)
def test_the_api_server_answers_to_the_names_that_pods_use(host):
    assert host in identity("apiserver").hosts
