from collections import defaultdict
from pathlib import Path

import pytest

from cluster.harness import components, layout

BINARIES = defaultdict(lambda: Path("/bin/x"), {"kubelet": Path("/cache/kubelet")})


def options(component):
    pairs = (word.removeprefix("--").partition("=") for word in component.argv[1:])
    return {name: value for name, _, value in pairs}


def by_name(found):
    return {component.name: component for component in found}


def test_the_runtime_and_the_api_come_before_their_users():
    assert list(by_name(components.runtime_components(BINARIES))) == [
        "containerd",
        "etcd",
        "kube-apiserver",
    ]
    assert list(by_name(components.api_components(BINARIES))) == [
        "kube-controller-manager",
        "kube-scheduler",
        "kubelet",
        "kube-proxy",
        "coredns",
    ]


@pytest.mark.parametrize("name", ["kube-controller-manager", "kube-scheduler"])
def test_api_users_have_raised_limits(name):
    given = options(by_name(components.api_components(BINARIES))[name])
    assert (given["kube-api-qps"], given["kube-api-burst"]) == ("500", "1000")


def test_the_api_server_authorizes_nodes_and_roles():
    given = options(by_name(components.runtime_components(BINARIES))["kube-apiserver"])
    assert given["authorization-mode"] == "Node,RBAC"
    assert given["enable-admission-plugins"] == "NodeRestriction"


def test_the_api_server_and_the_controller_manager_use_one_service_account_key():
    server = options(by_name(components.runtime_components(BINARIES))["kube-apiserver"])
    manager = options(by_name(components.api_components(BINARIES))["kube-controller-manager"])
    assert server["service-account-key-file"] == manager["service-account-private-key-file"]


def test_a_component_runs_the_binary_of_its_name():
    assert by_name(components.api_components(BINARIES))["kubelet"].argv[0] == "/cache/kubelet"


def test_optional_components_start_only_when_named():
    assert components.optional_components(BINARIES, []) == ()
    assert list(by_name(components.optional_components(BINARIES, ["kube-router"]))) == [
        "kube-router"
    ]


def test_the_network_policy_engine_leaves_routes_and_services_alone():
    given = options(components.optional_components(BINARIES, ["kube-router"])[0])
    assert (given["run-router"], given["run-service-proxy"]) == ("false", "false")
    assert given["run-firewall"] == "true"
    assert given["service-cluster-ip-range"] == layout.SERVICE_RANGE
