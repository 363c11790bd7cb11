"""`sandbox.services`: servers beside the agent, which see nothing of ours."""

import pytest

from builders_controller import COMMAND_TASK, World, container, first_pod, run_body
from fakes.kubelet import ended, running
from proctor.controller.seen import SeenPod
from proctor.controller.shape import shape_digest

DB = {
    "name": "db",
    "image": "postgres:16",
    "port": 5432,
    "env": [{"name": "POSTGRES_PASSWORD", "value": "$(X)"}, {"name": "EMPTY"}],
}
CACHE = {"name": "cache", "image": "redis:7", "port": 6379, "command": ["redis-server"]}
SPEC = {"tasks": [COMMAND_TASK], "sandbox": {"services": [DB, CACHE]}}


def a_service(state, restarts=0):
    return {**state, "restartCount": restarts}


async def a_world(*states):
    world = World()
    await world.apply(run_body(**SPEC))
    (pod,) = world.pods()
    name = pod["metadata"]["name"]
    world.kubelet.schedule(name)
    status = {"phase": "Pending", "initContainerStatuses": [ended("stage", 0), *states]}
    world.kubelet.status(name, status)
    return world


def test_services_start_after_stage_and_before_the_agent_and_outlive_it():
    containers = first_pod(**SPEC)["spec"]["initContainers"]
    assert [one["name"] for one in containers] == ["stage", "db", "cache", "agent", "checks"]
    assert {one["name"] for one in containers if one.get("restartPolicy") == "Always"} == {
        "db",
        "cache",
    }


def test_a_service_sees_nothing_of_ours_and_is_as_restricted_as_an_agent():
    pod = first_pod(**SPEC)
    service = container(pod, "db")
    assert "volumeMounts" not in service
    assert service["image"] == "postgres:16"
    assert service["securityContext"] == container(pod, "agent")["securityContext"]
    assert service["resources"]["limits"] == {
        "cpu": "500m",
        "memory": "512Mi",
        "ephemeral-storage": "1Gi",
    }


def test_a_services_words_are_taken_literally():
    assert container(first_pod(**SPEC), "db")["env"] == [
        {"name": "POSTGRES_PASSWORD", "value": "$$(X)"},
        {"name": "EMPTY"},
    ]
    assert container(first_pod(**SPEC), "cache")["command"] == ["redis-server"]


def test_the_agent_waits_for_the_port_and_finds_the_service_by_name():
    pod = first_pod(**SPEC)
    assert container(pod, "db")["startupProbe"] == {
        "tcpSocket": {"port": 5432},
        "timeoutSeconds": 1,
        "periodSeconds": 1,
        "successThreshold": 1,
        "failureThreshold": 120,
    }
    here = [one["hostnames"] for one in pod["spec"]["hostAliases"] if one["ip"] == "127.0.0.1"]
    assert here == [["db"], ["cache"]]
    assert not [one for one in first_pod()["spec"]["hostAliases"] if one["ip"] == "127.0.0.1"]


def test_the_shape_shows_another_image_of_a_service():
    pod = first_pod(**SPEC)
    container(pod, "db")["image"] = "evil"
    assert shape_digest(pod) != shape_digest(first_pod(**SPEC))


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(a_service(running("db"), restarts=1), id="started-again"),
        pytest.param(
            {"name": "db", "state": {"waiting": {"reason": "CrashLoopBackOff"}}}, id="crashing"
        ),
    ],
)
async def test_a_service_that_never_becomes_ready_is_named_and_ends_the_trial(state):
    world = await a_world(state)
    await world.later(2)
    assert world.condition("Progressing") == ("False", "ServiceNotReady")
    await world.later(70)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "InfraFailed"
    assert trial["status"]["attempts"][0]["failureClass"] == "config"
    assert "service db" in trial["status"]["reason"]


async def test_an_image_of_a_service_that_cannot_be_pulled_is_named():
    state = {"name": "db", "state": {"waiting": {"reason": "ErrImagePull", "message": "postgres"}}}
    world = await a_world(state)
    await world.later(2)
    assert world.condition("Progressing") == ("False", "ImagePullFailed")


async def test_a_service_that_ends_with_the_pod_is_not_to_blame_for_anything():
    world = await a_world(running("db"))
    (pod,) = world.pods()
    states = [ended("stage", 0), ended("db", 137), ended("agent", 9), ended("cache", 143)]
    world.kubelet.status(
        pod["metadata"]["name"], {"phase": "Failed", "initContainerStatuses": states}
    )
    await world.later(1)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "AgentError"
    assert "container agent" in trial["status"]["reason"]


def test_a_pod_killed_between_two_containers_is_seen_beside_its_services():
    body = first_pod(**SPEC)
    body["metadata"] |= {"uid": "u", "resourceVersion": "1"}
    body["metadata"]["creationTimestamp"] = "2026-03-01T12:00:00Z"
    body["status"] = {"initContainerStatuses": [ended("stage", 0), running("db"), running("loop")]}
    seen = SeenPod.from_body(body)
    assert [one.name for one in seen.phases] == ["stage"]
    assert [one.name for one in seen.services] == ["db"]
