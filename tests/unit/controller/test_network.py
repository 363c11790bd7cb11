"""Policies and addresses around a run, over a fake cluster: made, repaired, and told of."""

import pytest

from builders_controller import (
    COMMAND_TASK,
    GATEWAY_SERVICE,
    MINI,
    NETWORK,
    World,
    container,
    first_pod,
    run_body,
)
from fakes.kubelet import ended, running
from proctor.api.egress_pass import read_pass
from proctor.controller.cluster import NETWORK_POLICIES, PODS, SERVICES

CLOSED, OPEN = "NetworkClosed", "NetworkOpen"


def policies(world):
    return {body["metadata"]["name"]: body for body in world.cluster.bodies(NETWORK_POLICIES)}


def staged(world, message, code=0):
    """The pod's first container has ended so."""
    states = [ended("stage", code, message=message)]
    if code == 0:
        states.append(running("agent"))
    (pod,) = [one for one in world.pods() if "phase" not in one.get("status", {})]
    phase = "Pending" if code == 0 else "Failed"
    status = {"phase": phase, "initContainerStatuses": states}
    world.kubelet.status(pod["metadata"]["name"], status)


def enforced(world):
    found = [one for one in world.run()["status"]["conditions"] if one["type"] == "NetworkEnforced"]
    return (found[0]["status"], found[0]["reason"], found[0]["message"]) if found else None


async def test_the_policy_of_its_mode_exists_before_a_pod():
    world = World()
    await world.apply(run_body())
    made = [plural for verb, plural, _ in world.cluster.writes if verb == "create"]
    assert made.index("networkpolicies") < made.index("pods")
    assert list(policies(world)) == ["proctor-trial-modelonly"]


async def test_each_mode_has_a_policy_of_its_own():
    world = World()
    variants = [
        {"name": "shut", "sandbox": {"egress": {"mode": "None"}}},
        {"name": "wide", "sandbox": {"egress": {"mode": "Open"}}},
    ]
    await world.apply(run_body(variants=variants))
    assert set(policies(world)) == {"proctor-trial-none", "proctor-trial-open"}


async def test_a_second_run_asks_for_nothing_that_is_there():
    world = World()
    await world.apply(run_body())
    other = run_body()
    other["metadata"]["name"] = "other"
    await world.apply(other)
    assert "networkpolicies" not in [plural for _, plural, _ in world.cluster.writes]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(
            lambda cluster: cluster.change(
                NETWORK_POLICIES, "team", "proctor-trial-modelonly", {"spec": {"egress": [{}]}}
            ),
            id="changed",
        ),
        pytest.param(
            lambda cluster: cluster.delete_now(
                ("networkpolicies", "team", "proctor-trial-modelonly")
            ),
            id="deleted",
        ),
    ],
)
async def test_a_policy_that_somebody_spoils_is_as_it_was(spoil):
    world = World()
    await world.apply(run_body())
    before = policies(world)["proctor-trial-modelonly"]["spec"]
    spoil(world.cluster)
    await world.settle()
    assert policies(world)["proctor-trial-modelonly"]["spec"] == before


async def test_a_policy_of_its_name_that_was_there_before_is_made_right():
    world = World()
    planted = {
        "metadata": {"name": "proctor-trial-modelonly", "namespace": "team"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    world.cluster.plant(NETWORK_POLICIES, planted)
    await world.apply(run_body())
    spec = policies(world)["proctor-trial-modelonly"]["spec"]
    assert spec["podSelector"] == {"matchLabels": {"proctor.dev/egress": "ModelOnly"}}
    assert spec["policyTypes"] == ["Ingress", "Egress"]


def admission_that_adds(cluster, rule):
    """A mutating webhook that adds a rule to every NetworkPolicy that is written."""
    patch, create = cluster.patch, cluster.create

    def widened(body):
        egress = [*(body["spec"].get("egress") or ()), rule]
        return {**body, "spec": {**body["spec"], "egress": egress}}

    async def patched(kind, namespace, name, body, **rest):
        found = widened(body) if kind is NETWORK_POLICIES else body
        return await patch(kind, namespace, name, found, **rest)

    async def created(kind, body):
        return await create(kind, widened(body) if kind is NETWORK_POLICIES else body)

    cluster.patch, cluster.create = patched, created


async def test_a_policy_that_admission_changes_keeps_agents_from_starting_and_is_not_fought_over():
    world = World()
    admission_that_adds(world.cluster, {"to": [{"ipBlock": {"cidr": "8.8.8.8/32"}}]})
    await world.apply(run_body())
    await world.later(2)
    assert world.pods() == []
    assert world.condition("Progressing") == ("False", "NetworkNotReady")
    world.cluster.writes.clear()
    await world.later(10)
    assert "networkpolicies" not in [plural for _, plural, _ in world.cluster.writes]


async def test_a_policy_that_admission_changes_later_is_named_and_verdicts_are_taken():
    world = World()
    await world.apply(run_body())
    staged(world, CLOSED)
    await world.later(2)
    admission_that_adds(world.cluster, {"to": [{"ipBlock": {"cidr": "8.8.8.8/32"}}]})
    patch = {"spec": {"egress": [{}]}}
    world.cluster.change(NETWORK_POLICIES, "team", "proctor-trial-modelonly", patch)
    await world.later(2)
    assert enforced(world)[:2] == ("False", "OtherPolicies")
    world.pass_pod(world.pods()[0])
    await world.later(2)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "Passed"


async def test_pods_know_the_gateway_by_its_address_and_have_no_names():
    world = World()
    await world.apply(run_body())
    (pod,) = world.pods()
    assert pod["spec"]["dnsPolicy"] == "None"
    assert pod["spec"]["dnsConfig"] == {"nameservers": ["127.0.0.1"]}
    assert pod["spec"]["hostAliases"] == [{"ip": "10.96.7.7", "hostnames": ["gateway.proctor.svc"]}]


async def test_pods_of_an_open_run_have_names():
    world = World()
    await world.apply(run_body(sandbox={"egress": {"mode": "Open"}}))
    (pod,) = world.pods()
    assert pod["spec"]["dnsPolicy"] == "ClusterFirst"
    assert "hostAliases" not in pod["spec"]


async def test_a_service_that_was_made_anew_is_found_by_the_next_attempt():
    world = World()
    await world.apply(run_body())
    moved = {"spec": {"clusterIP": "10.96.9.9", "clusterIPs": ["10.96.9.9", "fd00::9"]}}
    world.cluster.change(SERVICES, "proctor", "gateway", moved)
    staged(world, "gateway gateway.proctor.svc:8080: timed out", code=5)
    await world.later(6)
    first, second = world.pods()
    assert first["spec"]["hostAliases"][0]["ip"] == "10.96.7.7"
    assert [one["ip"] for one in second["spec"]["hostAliases"]] == ["10.96.9.9", "fd00::9"]
    (trial,) = world.trials()
    assert trial["status"]["attempts"][0]["reason"] == "GatewayUnreachable"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        pytest.param(
            {"ports": [{"port": 8080, "targetPort": 8080}]}, "port 8082", id="without-a-canary"
        ),
        pytest.param(
            {"ports": [{"port": port, "targetPort": 80} for port in (8080, 8082)]},
            "port 8080",
            id="another-target",
        ),
        pytest.param({"clusterIP": "None", "clusterIPs": ["None"]}, "no cluster IP", id="headless"),
    ],
)
async def test_without_its_service_nothing_starts_and_the_run_says_why(spec, message):
    world = World()
    world.cluster.change(SERVICES, "proctor", "gateway", {"spec": spec})
    await world.apply(run_body())
    await world.later(2)
    assert world.pods() == []
    assert world.condition("Progressing") == ("False", "NetworkNotReady")
    said = [one["message"] for one in world.run()["status"]["conditions"] if one["message"]]
    assert any(message in one for one in said)
    world.cluster.change(SERVICES, "proctor", "gateway", {"spec": GATEWAY_SERVICE["spec"]})
    await world.later(20)
    assert len(world.pods()) == 1


async def test_nothing_is_said_of_the_network_before_a_pod_proved_it():
    world = World()
    await world.apply(run_body())
    assert enforced(world) is None


async def test_a_pod_that_proved_it_makes_the_network_enforced():
    world = World()
    await world.apply(run_body())
    staged(world, CLOSED)
    await world.later(2)
    assert enforced(world) == ("True", "CanaryRefused", "")


async def test_an_open_network_ends_attempts_before_their_agents_and_the_run_says_so():
    world = World()
    await world.apply(run_body(failurePolicy={"infraRetries": 1}))
    for _ in range(2):
        staged(world, "gateway:8082 can be reached", code=4)
        await world.later(2)
    status, reason, message = enforced(world)
    assert (status, reason) == ("False", "NotEnforced")
    assert "gateway:8082 can be reached" in message
    assert "network.requireEnforcement" in message
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "InfraFailed"
    assert [one["reason"] for one in trial["status"]["attempts"]] == ["NetworkNotEnforced"] * 2
    assert world.condition("Complete")[0] == "True"


async def test_a_network_that_stays_open_ends_the_run_and_not_only_three_trials():
    world = World()
    spec = {"failurePolicy": {"infraRetries": 0}, "repeats": 5, "parallelism": 1}
    await world.apply(run_body(**spec))
    for _ in range(3):
        staged(world, "gateway:8082 can be reached", code=4)
        await world.later(2)
    assert world.condition("Complete")[0] == "True"
    counts = world.run()["status"]["trials"]
    assert (counts["errored"], counts["cancelled"]) == (3, 2)


async def test_agents_that_ran_with_an_open_network_stay_named():
    world = World(network={**NETWORK, "requireEnforcement": False})
    await world.apply(run_body(repeats=2, parallelism=1))
    staged(world, OPEN)
    await world.later(2)
    assert enforced(world)[:2] == ("False", "AgentsNotConfined")
    (pod,) = world.pods()
    world.pass_pod(pod)
    await world.later(2)
    (pod,) = [one for one in world.pods() if "phase" not in one.get("status", {})]
    staged(world, CLOSED)
    await world.later(2)
    assert enforced(world)[:2] == ("False", "AgentsNotConfined")


async def test_a_policy_of_somebody_else_that_opens_trials_is_named_and_stays_named():
    world = World()
    await world.apply(run_body())
    wide = {
        "metadata": {"name": "let-all-out", "namespace": "team"},
        "spec": {"podSelector": {}, "policyTypes": ["Egress"], "egress": [{}]},
    }
    world.cluster.plant(NETWORK_POLICIES, wide)
    staged(world, CLOSED)
    await world.later(2)
    status, reason, message = enforced(world)
    assert (status, reason) == ("False", "OtherPolicies")
    assert "let-all-out" in message
    world.cluster.delete_now(("networkpolicies", "team", "let-all-out"))
    await world.later(2)
    assert enforced(world) == (status, reason, message)


async def test_a_policy_that_only_closes_is_not_named():
    world = World()
    await world.apply(run_body())
    shut = {
        "metadata": {"name": "default-deny", "namespace": "team"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
    }
    world.cluster.plant(NETWORK_POLICIES, shut)
    staged(world, CLOSED)
    await world.later(2)
    assert enforced(world)[0] == "True"


def test_the_proof_stands_in_the_container_that_runs_no_code_of_others():
    command = container(first_pod(), "stage")["command"]
    at = command.index("--must-reach")
    assert command[at:] == [
        "--must-reach", "gateway.proctor.svc:8080",
        "--must-not-reach", "gateway.proctor.svc:8082",
        "--finding", "/dev/termination-log",
    ]  # fmt: skip


def test_an_open_network_is_only_reported_where_that_is_allowed():
    changes = {"network": {**NETWORK, "requireEnforcement": False}}
    assert "--only-report" in container(first_pod(changes=changes), "stage")["command"]


def test_without_egress_the_agent_has_no_key_and_grade_keeps_its_own():
    pod = first_pod(
        agent={"type": "command", "options": {"command": "true"}},
        sandbox={"egress": {"mode": "None"}},
    )
    assert "--key-file" not in container(pod, "agent")["command"]
    assert "--gateway" not in container(pod, "agent")["command"]
    assert "--key-file" in container(pod, "grade")["command"]
    volumes = {one["name"] for one in pod["spec"]["volumes"]}
    assert "agent-token" not in volumes
    assert "judge-token" in volumes


async def test_an_allow_list_is_refused_where_no_proxy_is_installed():
    world = World()
    egress = {"mode": "AllowList", "hosts": ["pypi.org"]}
    await world.apply(run_body(agent=MINI, sandbox={"egress": egress}))
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    (accepted,) = [one for one in world.run()["status"]["conditions"] if one["type"] == "Accepted"]
    assert "spec.sandbox.egress.mode" in accepted["message"]
    assert "egressProxy.enabled" in accepted["message"]
    assert world.cluster.bodies(PODS) == []


PROXY = {
    "service": "egress",
    "namespace": "proctor",
    "port": 3128,
    "podLabels": {"app": "egress"},
}
LISTED = {"egress": {"mode": "AllowList", "hosts": ["pypi.org", "a.test:8443"]}}


@pytest.fixture
def with_proxy(tmp_path):
    (tmp_path / "key").write_bytes(b"k" * 48)
    proxy = {"egressProxy": PROXY, "egressSecretFile": str(tmp_path / "key")}
    world = World(network={**NETWORK, **proxy})
    service = {
        "metadata": {"name": "egress", "namespace": "proctor"},
        "spec": {"clusterIPs": ["10.96.8.8"], "ports": [{"port": 3128, "targetPort": 3128}]},
    }
    world.cluster.plant(SERVICES, service)
    return world


async def test_trials_with_a_list_reach_the_proxy_and_know_it_by_its_address(with_proxy):
    await with_proxy.apply(run_body(sandbox=LISTED))
    egress = policies(with_proxy)["proctor-trial-allowlist"]["spec"]["egress"]
    assert [one["ports"][0]["port"] for one in egress] == [8080, 3128]
    (pod,) = with_proxy.pods()
    assert {"ip": "10.96.8.8", "hostnames": ["egress.proctor.svc"]} in pod["spec"]["hostAliases"]
    assert pod["spec"]["dnsPolicy"] == "None"


async def test_a_trials_pass_names_its_hosts_its_attempt_and_an_end(with_proxy):
    await with_proxy.apply(run_body(sandbox=LISTED))
    (pod,) = with_proxy.pods()
    (trial,) = with_proxy.trials()
    text = pod["metadata"]["annotations"]["proctor.dev/egress-pass"]
    at = with_proxy.now().timestamp()
    found = read_pass(text, b"k" * 48, at)
    assert (found.trial, found.attempt) == (trial["metadata"]["uid"], 1)
    assert found.hosts == ("pypi.org", "a.test:8443")
    lives = pod["spec"]["activeDeadlineSeconds"]
    assert at + lives < found.expires_at < at + lives + 3600


async def test_the_pass_is_a_file_of_agent_checks_and_grade_and_no_part_of_the_pods_shape(
    with_proxy,
):
    await with_proxy.apply(run_body(sandbox=LISTED, tasks=[COMMAND_TASK]))
    (pod,) = with_proxy.pods()
    for name in ("agent", "checks"):
        found = container(pod, name)
        assert "--egress-pass-file" in found["command"]
        assert "/var/run/proctor/egress" in [one["mountPath"] for one in found["volumeMounts"]]
    grade = container(pod, "grade")["command"]
    assert "--egress-pass-file" in grade  # to take it out of the record
    assert "--egress-proxy" not in grade
    assert "--egress-pass-file" not in container(pod, "stage")["command"]
    staged(with_proxy, CLOSED)
    await with_proxy.later(2)
    with_proxy.pass_pod(with_proxy.pods()[0])
    await with_proxy.later(2)
    (trial,) = with_proxy.trials()
    assert trial["status"]["outcome"] == "Passed"


async def test_loop_knows_the_pass_too_where_checks_run_in_place(with_proxy):
    await with_proxy.apply(run_body(sandbox={**LISTED, "checks": "InPlace"}, tasks=[COMMAND_TASK]))
    (pod,) = with_proxy.pods()
    loop = container(pod, "loop")
    assert "--egress-pass-file" in loop["command"]
    assert "/var/run/proctor/egress" in [one["mountPath"] for one in loop["volumeMounts"]]


async def test_trials_of_other_modes_get_no_pass(with_proxy):
    await with_proxy.apply(run_body())
    (pod,) = with_proxy.pods()
    assert "proctor.dev/egress-pass" not in pod["metadata"]["annotations"]
    assert "egress-pass" not in [one["name"] for one in pod["spec"]["volumes"]]
