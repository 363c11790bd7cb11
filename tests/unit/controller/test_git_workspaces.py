"""`workspace.git`: `stage` fetches a repository with a pass that no other container has."""

import json

import pytest

from builders_controller import (
    COMMAND_TASK,
    NETWORK,
    World,
    container,
    first_pod,
    run_body,
)
from fakes.kubelet import ended
from proctor.api.egress_pass import read_pass
from proctor.api.git import FETCH_SECONDS
from proctor.api.report import EXIT_GIT_REFUSED, EXIT_GIT_UNREACHABLE
from proctor.controller.cluster import NETWORK_POLICIES, SERVICES
from proctor.controller.fetching import PASS_SLACK_SECONDS
from proctor.runner.arguments import parse_arguments
from proctor.runner.fetch_places import GitSource

COMMIT = "0123456789abcdef0123456789abcdef01234567"
GIT = {"url": "https://git.test:8443/acme/shop.git", "commit": COMMIT}
SIGNED = b"k" * 48


def spec(**changes):
    return {"tasks": [{**COMMAND_TASK, "workspace": {"git": {**GIT, **changes}}}]}


@pytest.fixture
def network(tmp_path):
    (tmp_path / "key").write_bytes(SIGNED)
    proxy = {
        "service": "egress", "namespace": "proctor", "port": 3128, "podLabels": {"app": "egress"},
    }  # fmt: skip
    return {**NETWORK, "egressProxy": proxy, "egressSecretFile": str(tmp_path / "key")}


@pytest.fixture
def world(network):
    world = World(network=network)
    service = {
        "metadata": {"name": "egress", "namespace": "proctor"},
        "spec": {"clusterIPs": ["10.96.8.8"], "ports": [{"port": 3128, "targetPort": 3128}]},
    }
    world.cluster.plant(SERVICES, service)
    return world


def mounted(pod, volume):
    """Containers that mount it → whether they may write."""
    every = (*pod["spec"]["initContainers"], *pod["spec"]["containers"])
    return {
        one["name"]: not mount.get("readOnly", False)
        for one in every
        for mount in one["volumeMounts"]
        if mount["name"] == volume
    }


async def test_stage_is_told_what_to_fetch_in_words_that_the_runner_reads(network):
    pod = first_pod(changes={"network": network}, **spec(path="web$(HOME)"))
    words = [word.replace("$$", "$") for word in container(pod, "stage")["command"][3:]]
    fetch = parse_arguments(words).fetch
    assert fetch.source == GitSource(GIT["url"], COMMIT, "web$(HOME)")
    assert fetch.egress.url == "http://egress.proctor.svc:3128"
    assert str(fetch.libraries) == "/stage"


def test_only_stage_writes_what_was_fetched_and_only_stage_has_the_pass(network):
    pod = first_pod(changes={"network": network}, **spec())
    assert mounted(pod, "fetched") == {"stage": True, "agent": False, "grade": False}
    assert mounted(pod, "fetch-pass") == {"stage": False}
    assert mounted(pod, "egress-pass") == {}
    for name in ("agent", "checks", "grade"):
        assert "--egress-pass-file" not in container(pod, name)["command"]


def test_the_secret_is_given_to_stage_alone(network):
    pod = first_pod(changes={"network": network}, **spec(secretRef={"name": "shop-reader"}))
    env = {one["name"]: one["valueFrom"]["secretKeyRef"] for one in container(pod, "stage")["env"]}
    assert env == {
        "PROCTOR_SECRET_GIT_PASSWORD": {"name": "shop-reader", "key": "password"},
        "PROCTOR_SECRET_GIT_USERNAME": {
            "name": "shop-reader", "key": "username", "optional": True,
        },
        "PROCTOR_SECRET_GIT_AUTHORITIES": {
            "name": "shop-reader", "key": "ca.crt", "optional": True,
        },
    }  # fmt: skip
    assert json.dumps(pod).count("shop-reader") == len(env)


def test_without_a_repository_nothing_of_it_is_in_the_pod(network):
    pod = first_pod(changes={"network": network}, tasks=[COMMAND_TASK])
    assert "fetch" not in json.dumps(pod)


async def test_the_pass_is_for_the_repositorys_host_and_holds_for_a_pod_that_starts_last(world):
    await world.apply(run_body(failurePolicy={"pendingTimeoutSeconds": 120}, **spec()))
    (pod,) = world.pods()
    at = world.now().timestamp()
    notes = pod["metadata"]["annotations"]
    found = read_pass(notes["proctor.dev/fetch-pass"], SIGNED, at)
    assert (found.hosts, found.attempt) == (("git.test:8443",), 1)
    starts_at, proves_seconds = int(at) + 120, 60
    assert starts_at + proves_seconds + FETCH_SECONDS < found.expires_at
    assert found.expires_at == starts_at + FETCH_SECONDS + PASS_SLACK_SECONDS
    assert "proctor.dev/egress-pass" not in notes
    # By this beginning the cluster's tests look for it where agents run.
    assert notes["proctor.dev/fetch-pass"].startswith("eyJ0cmlhbCI6I")


async def test_an_agents_own_pass_does_not_name_the_repositorys_host(world):
    listed = {"egress": {"mode": "AllowList", "hosts": ["pypi.org"]}}
    await world.apply(run_body(sandbox=listed, **spec()))
    (pod,) = world.pods()
    notes, at = pod["metadata"]["annotations"], world.now().timestamp()
    assert read_pass(notes["proctor.dev/egress-pass"], SIGNED, at).hosts == ("pypi.org",)
    assert read_pass(notes["proctor.dev/fetch-pass"], SIGNED, at).hosts == ("git.test:8443",)
    assert set(mounted(pod, "egress-pass")) == {"agent", "checks", "grade"}


async def test_a_repository_has_room_beside_the_workspace_that_is_made_of_it(world):
    resources = {"resources": {"ephemeralStorage": "3Gi"}}
    await world.apply(run_body(sandbox=resources, **spec()))
    (pod,) = world.pods()
    (agent,) = [one for one in pod["spec"]["initContainers"] if one["name"] == "agent"]
    assert agent["resources"]["limits"]["ephemeral-storage"] == "6Gi"


async def test_such_a_pod_reaches_the_proxy_besides_what_its_mode_opens(world):
    await world.apply(run_body(**spec()))
    (pod,) = world.pods()
    found = {one["metadata"]["name"]: one["spec"] for one in world.cluster.bodies(NETWORK_POLICIES)}
    assert set(found) == {"proctor-trial-modelonly", "proctor-trial-fetch"}
    fetch = found["proctor-trial-fetch"]
    assert fetch["podSelector"] == {"matchLabels": {"proctor.dev/fetches": "Git"}}
    assert [one["ports"][0]["port"] for one in fetch["egress"]] == [3128]
    assert pod["metadata"]["labels"]["proctor.dev/fetches"] == "Git"
    assert {"ip": "10.96.8.8", "hostnames": ["egress.proctor.svc"]} in pod["spec"]["hostAliases"]


async def test_its_policy_is_repaired_and_is_not_taken_for_somebody_elses(world):
    await world.apply(run_body(**spec()))
    patch = {"spec": {"egress": [{}]}}
    world.cluster.change(NETWORK_POLICIES, "team", "proctor-trial-fetch", patch)
    await world.settle()
    found = {one["metadata"]["name"]: one["spec"] for one in world.cluster.bodies(NETWORK_POLICIES)}
    assert [one["ports"][0]["port"] for one in found["proctor-trial-fetch"]["egress"]] == [3128]


async def test_a_secret_that_does_not_exist_is_named_with_the_field(world):
    await world.apply(run_body(**spec(secretRef={"name": "shop-reader"})))
    (pod,) = world.pods()
    said = 'secret "shop-reader" not found'
    world.kubelet.waiting(pod["metadata"]["name"], "stage", "CreateContainerConfigError", said)
    await world.settle()
    assert world.condition("Progressing") == ("False", "SecretMissing")
    assert "workspace.git.secretRef" in str(world.run()["status"]["conditions"])


async def test_without_an_egress_proxy_the_run_is_refused_with_the_charts_value():
    world = World()
    await world.apply(run_body(**spec()))
    accepted = {one["type"]: one for one in world.run()["status"]["conditions"]}["Accepted"]
    assert accepted["status"] == "False"
    assert "egressProxy.enabled" in accepted["message"]


async def stage_ends(world, code, message):
    await world.apply(run_body(**spec()))
    (pod,) = world.pods()
    states = [ended("stage", code, message=message)]
    name = pod["metadata"]["name"]
    world.kubelet.status(name, {"phase": "Failed", "initContainerStatuses": states})
    await world.later(1)


async def test_what_the_server_refuses_is_a_configuration_error_and_not_tried_again(world):
    await stage_ends(world, EXIT_GIT_REFUSED, "the server says 404")
    (trial,) = world.trials()
    (attempt,) = trial["status"]["attempts"]
    assert (attempt["failureClass"], attempt["reason"]) == ("config", "GitRefused")
    assert "the server says 404" in trial["status"]["reason"]


async def test_a_server_that_is_away_is_the_platforms_fault_and_tried_again(world):
    await stage_ends(world, EXIT_GIT_UNREACHABLE, "connection refused")
    (trial,) = world.trials()
    assert "outcome" not in trial.get("status", {})
    assert trial["spec"]["attempt"] == 2
