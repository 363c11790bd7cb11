import ipaddress

from cluster.harness import layout
from cluster.harness.manifests import first_objects


def of_kind(kind):
    return next(body for _, body in first_objects() if body["kind"] == kind)


def test_dns_has_its_address_in_the_service_range():
    address = of_kind("Service")["spec"]["clusterIP"]
    assert ipaddress.ip_address(address) in ipaddress.ip_network(layout.SERVICE_RANGE)


def test_the_endpoints_belong_to_the_service_and_have_its_ports():
    service, endpoints = of_kind("Service"), of_kind("EndpointSlice")
    assert endpoints["metadata"]["labels"] == {
        "kubernetes.io/service-name": service["metadata"]["name"]
    }
    assert endpoints["ports"] == service["spec"]["ports"]


def test_dns_only_reads():
    verbs = {verb for rule in of_kind("ClusterRole")["rules"] for verb in rule["verbs"]}
    assert verbs == {"list", "watch"}
