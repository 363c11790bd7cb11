"""The attack suite and the honest suite on the cluster: as many trials side by side as fit."""

import uuid

import pytest

from agent_runs import LINES, run_on_cluster
from agent_suites import lines, of_cluster, with_controls, wrongs
from cluster.conftest import enforces_policies

HONEST, ATTACKS = of_cluster("honest"), of_cluster("attacks")
NETWORK = [agent for agent in ATTACKS if agent.enforced]
(KNOWS,) = (agent for agent in HONEST if agent.name == "knows")


def test_attacks_gain_nothing(kube, record_property):
    agents = with_controls([agent for agent in ATTACKS if not agent.enforced], KNOWS)

    ended = run_on_cluster(kube, "attacks", agents, uuid.uuid4().hex)

    record_property(LINES, lines(agents, ended))
    found = wrongs(agents, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())


def test_honest_agents_pass(kube, record_property):
    ended = run_on_cluster(kube, "honest", HONEST, uuid.uuid4().hex)

    record_property(LINES, lines(HONEST, ended))
    found = wrongs(HONEST, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())


def test_agents_that_are_root_gain_no_more_and_work_as_root(baseline, images, record_property):
    attacks = with_controls(of_cluster("attacks", "root"), KNOWS)
    agents = [*attacks, *of_cluster("honest", "root")]

    ended = run_on_cluster(
        baseline, "root", agents, uuid.uuid4().hex, {"TESTBED": images["testbed"]}
    )

    record_property(LINES, lines(agents, ended))
    found = wrongs(agents, ended)
    assert not found, "\n".join(f"{name}: {text}" for name, text in found.items())


@pytest.fixture
def addresses(kube, images):
    """What the words in the prompts of the network's agents stand for; all of it answers."""
    container = {
        "name": "listener",
        "image": images["default"],
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-m", "http.server", "8080", "--directory", "/tmp"],
        "readinessProbe": {"tcpSocket": {"port": 8080}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "runAsNonRoot": True,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
    }
    spec = {"containers": [container], "terminationGracePeriodSeconds": 0}
    kube.apply({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "listener"}, "spec": spec})
    kube("wait", "pod/listener", "--for=condition=Ready", "--timeout=120s")
    service = kube("get", "service", "kubernetes", "--namespace=default",
                   "--output=jsonpath={.spec.clusterIP}")  # fmt: skip
    servers = kube("get", "service", "--namespace=kube-system", "--selector=k8s-app=kube-dns",
                   "--output=jsonpath={.items[0].spec.clusterIP}")  # fmt: skip
    status = kube.get("pod", "listener")["status"]
    yield {
        "API_SERVER": f"{service}:443",
        "LISTENER": f"{status['podIP']}:8080",
        "NAME_SERVER": servers,
        "NODE": f"{status['hostIP']}:10250",
    }
    kube("delete", "pod", "listener")


def test_agents_of_the_network_reach_only_where_nothing_is_enforced(
    kube, addresses, record_property
):
    """Without enforcement each of them reaches its target, so that its check can fail."""
    ended = run_on_cluster(kube, "network", NETWORK, uuid.uuid4().hex, addresses)

    record_property(LINES, lines(NETWORK, ended))
    reached = set() if enforces_policies() else {agent.name for agent in NETWORK}
    assert set(wrongs(NETWORK, ended)) == reached
