"""What the policies of trials let through, looked at as a network would."""

from ipaddress import ip_address, ip_network

import pytest

from builders_controller import settings
from proctor.api.egress import EgressMode
from proctor.controller.policies import (
    correction,
    lets_through,
    policy_name,
    selects,
    trial_policy,
)

NETWORK = settings().network
PROXY = {
    "service": "egress",
    "namespace": "proctor",
    "port": 3128,
    "podLabels": {"app": "egress"},
}


def policy(mode, **changes):
    return trial_policy("team", mode, NETWORK.model_copy(update=changes))


def reaches(document, address, port=443):
    """Whether an address outside the cluster is let through."""
    found = ip_address(address)
    for rule in document["spec"]["egress"]:
        ports = rule.get("ports")
        if ports is not None and port not in [one["port"] for one in ports]:
            continue
        blocks = [peer["ipBlock"] for peer in rule.get("to", ()) if "ipBlock" in peer]
        if "to" not in rule:
            return True
        for block in blocks:
            shut = [ip_network(one) for one in block["except"]]
            if found in ip_network(block["cidr"]) and not any(found in one for one in shut):
                return True
    return False


@pytest.mark.parametrize("mode", EgressMode)
def test_nothing_comes_in_and_each_policy_selects_the_pods_of_its_mode(mode):
    spec = policy(mode)["spec"]
    assert spec["policyTypes"] == ["Ingress", "Egress"]
    assert not spec.get("ingress")
    assert spec["podSelector"] == {"matchLabels": {"proctor.dev/egress": mode.value}}


@pytest.mark.parametrize("mode", [EgressMode.NONE, EgressMode.MODEL_ONLY])
def test_one_port_of_the_gateways_pods_is_all_there_is(mode):
    assert policy(mode)["spec"]["egress"] == [
        {
            "to": [
                {
                    "namespaceSelector": {
                        "matchLabels": {"kubernetes.io/metadata.name": "proctor"}
                    },
                    "podSelector": {"matchLabels": {"app": "gateway"}},
                }
            ],
            "ports": [{"protocol": "TCP", "port": 8080}],
        }
    ]


def test_names_of_policies_are_kubernetes_names():
    assert policy_name(EgressMode.MODEL_ONLY) == "proctor-trial-modelonly"


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("93.184.216.34", id="public"),
        pytest.param("2606:4700::1111", id="public-v6"),
    ],
)
def test_open_reaches_the_internet(address):
    assert reaches(policy(EgressMode.OPEN), address)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("10.96.0.1", id="service"),
        pytest.param("172.20.1.1", id="private"),
        pytest.param("192.168.1.1", id="home"),
        pytest.param("169.254.169.254", id="metadata"),
        pytest.param("127.0.0.1", id="loopback"),
        pytest.param("100.64.0.1", id="carrier"),
        pytest.param("fd00::1", id="private-v6"),
        pytest.param("fe80::1", id="link-local-v6"),
        pytest.param("fd00:ec2::254", id="metadata-v6"),
        pytest.param("2002:7f00:1::", id="loopback-in-6to4"),
        pytest.param("::ffff:10.0.0.1", id="private-in-v6"),
        pytest.param("40.1.2.3", id="the-clusters-own-public-block"),
        pytest.param("2a00:1::5", id="the-clusters-own-v6-block"),
    ],
)
def test_open_leaves_out_what_is_not_the_internet(address):
    found = policy(EgressMode.OPEN, cluster_ranges=("40.1.0.0/16", "2a00:1::/32"))
    assert not reaches(found, address)
    assert reaches(found, address, port=53), "names are found anywhere"


def test_an_exception_always_lies_in_its_block():
    found = policy(EgressMode.OPEN, cluster_ranges=("40.1.0.0/16", "2a00:1::/32", "fd00::/8"))
    for rule in found["spec"]["egress"]:
        for peer in rule.get("to", ()):
            block = peer.get("ipBlock")
            if block:
                outer = ip_network(block["cidr"])
                assert all(ip_network(one).subnet_of(outer) for one in block["except"])


def test_a_policy_as_it_should_be_needs_no_correction():
    spec = policy(EgressMode.OPEN)["spec"]
    assert correction({**spec, "ingress": []}, spec) == {}


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"egress": [{}]}, id="opened"),
        pytest.param({"ingress": [{}]}, id="let-in"),
        pytest.param({"policyTypes": ["Ingress"]}, id="egress-forgotten"),
        pytest.param(
            {"podSelector": {"matchLabels": {"proctor.dev/egress": "Open", "more": "x"}}},
            id="selects-others",
        ),
        pytest.param(
            {
                "podSelector": {
                    "matchLabels": {"proctor.dev/egress": "ModelOnly"},
                    "matchExpressions": [{"key": "a", "operator": "Exists"}],
                }
            },
            id="selects-fewer",
        ),
    ],
)
def test_a_changed_policy_is_patched_back(change):
    spec = policy(EgressMode.MODEL_ONLY)["spec"]
    found = {**spec, **change}
    assert merged(found, correction(found, spec)) == spec


def merged(target, patch):
    """RFC 7386."""
    result = dict(target)
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        elif isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


LABELS = {"proctor.dev/run": "r", "proctor.dev/egress": "ModelOnly"}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        pytest.param({"podSelector": {}, "egress": [{}]}, True, id="everything"),
        pytest.param({"podSelector": {}, "ingress": [{}]}, True, id="lets-in"),
        pytest.param({"podSelector": {}, "policyTypes": ["Egress"]}, False, id="only-closes"),
        pytest.param(
            {"podSelector": {"matchLabels": {"app": "web"}}, "egress": [{}]}, False, id="others"
        ),
        pytest.param(
            {
                "podSelector": {
                    "matchExpressions": [
                        {"key": "proctor.dev/run", "operator": "Exists"},
                        {"key": "proctor.dev/egress", "operator": "In", "values": ["ModelOnly"]},
                        {"key": "app", "operator": "NotIn", "values": ["web"]},
                        {"key": "app", "operator": "DoesNotExist"},
                    ]
                },
                "egress": [{}],
            },
            True,
            id="by-expressions",
        ),
        pytest.param(
            {
                "podSelector": {"matchExpressions": [{"key": "app", "operator": "Exists"}]},
                "egress": [{}],
            },
            False,
            id="an-expression-that-does-not-hold",
        ),
    ],
)
def test_a_policy_of_somebody_else_opens_what_it_selects_and_lets_through(spec, expected):
    assert (lets_through(spec) and selects(spec, LABELS)) is expected
