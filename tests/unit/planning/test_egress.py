"""sandbox.egress: what is refused, and which layer wins."""

import pytest
from pydantic import ValidationError

from builders_planning import a_plan, a_task, problems_of
from proctor.api.egress import Egress, EgressMode, host_and_port

LISTED = {"mode": "AllowList", "hosts": ["pypi.org"]}


def the_cell(**fields):
    (cell,) = a_plan(**fields).cells.values()
    return cell


def said(**fields):
    return [(problem.field, problem.message) for problem in problems_of(**fields)]


def test_the_gateway_is_all_that_a_trial_reaches_unless_it_says_more():
    cell = the_cell()
    assert cell.egress == Egress(mode=EgressMode.MODEL_ONLY)
    assert cell.agent_asks_models
    assert cell.orders.grade.lineage["sandbox.egress.mode"] == "default"
    assert cell.orders.grade.context["egress"] == "ModelOnly"


def test_a_layer_that_names_a_mode_takes_the_hosts_below_away():
    task = a_task(sandbox={"egress": {"mode": "Open"}})
    cell = the_cell(sandbox={"egress": LISTED}, tasks=[task])
    assert cell.egress == Egress(mode=EgressMode.OPEN)
    lineage = cell.orders.grade.lineage
    assert lineage["sandbox.egress.mode"] == "task"
    assert "sandbox.egress.hosts" not in lineage


def test_a_layer_that_names_hosts_replaces_those_below():
    task = a_task(sandbox={"egress": {"mode": "AllowList", "hosts": ["a.test:8443"]}})
    assert the_cell(sandbox={"egress": LISTED}, tasks=[task]).egress.hosts == ("a.test:8443",)


@pytest.mark.parametrize(
    ("egress", "field", "message"),
    [
        pytest.param({"mode": "AllowList"}, "hosts", "names no host", id="no-host"),
        pytest.param({**LISTED, "mode": "Open"}, "hosts", "looks at no hosts", id="hosts-for-open"),
        pytest.param(
            {"mode": "AllowList", "hosts": ["a.test", "b.test", "a.test"]},
            "hosts[2]",
            "a.test is listed twice",
            id="twice",
        ),
    ],
)
def test_hosts_go_with_allow_list_and_only_with_it(egress, field, message):
    (found,) = said(sandbox={"egress": egress})
    assert found[0] == f"spec.sandbox.egress.{field}"
    assert message in found[1]


def test_an_agent_that_cannot_do_without_a_model_is_refused_without_a_key():
    (found,) = said(
        agent={"type": "mini", "model": "claude-x"}, sandbox={"egress": {"mode": "None"}}
    )
    assert found == (
        "spec.sandbox.egress.mode",
        "agent mini asks a model, and mode None gives it no key",
    )


def test_any_other_agent_runs_without_a_key():
    agent = {"type": "command", "options": {"command": "true"}}
    cell = the_cell(agent=agent, sandbox={"egress": {"mode": "None"}})
    assert (cell.needs_model, cell.agent_asks_models) == (True, False)


@pytest.mark.parametrize(
    "host",
    [
        pytest.param("10.0.0.1", id="address"),
        pytest.param("::1", id="address-v6"),
        pytest.param("localhost", id="one-label"),
        pytest.param("*.pypi.org", id="pattern"),
        pytest.param("https://pypi.org", id="url"),
        pytest.param("PyPI.org", id="capitals"),
        pytest.param("pypi.org.", id="final-dot"),
        pytest.param("pypi.org:0", id="port-zero"),
        pytest.param("pypi.org:65536", id="port-too-large"),
        pytest.param("-a.org", id="hyphen"),
        pytest.param("a.org\n", id="newline"),
    ],
)
def test_a_host_is_a_full_name_with_a_port_at_most(host):
    with pytest.raises(ValidationError):
        Egress(mode=EgressMode.ALLOW_LIST, hosts=(host,))


def test_a_host_without_a_port_means_443():
    hosts = ("files.pythonhosted.org", "git.example.com:8443", "xn--bcher-kva.example:65535")
    assert [host_and_port(host) for host in Egress(mode="AllowList", hosts=hosts).hosts] == [
        ("files.pythonhosted.org", 443),
        ("git.example.com", 8443),
        ("xn--bcher-kva.example", 65535),
    ]
