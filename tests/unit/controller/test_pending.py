"""Why a pod does not start, by name."""

from datetime import timedelta

import pytest

from builders_controller import World, run_body
from fakes.cluster import START
from proctor.controller.cluster import ClusterError, RefusedError


async def a_waiting_world():
    world = World()
    await world.apply(run_body())
    (pod,) = world.pods()
    return world, pod["metadata"]["name"]


async def test_unschedulable_is_explained_at_once_and_ends_in_time():
    world, pod = await a_waiting_world()
    world.kubelet.unschedulable(pod, "0/3 nodes are available: 3 Insufficient cpu.")
    await world.later(2)
    assert world.condition("Progressing") == ("False", "Unschedulable")
    assert "Insufficient cpu" in str(world.run()["status"]["conditions"])
    await world.later(600)
    (failing,) = world.run()["status"]["failing"]
    assert failing["outcome"] == "InfraFailed"
    assert failing["reason"].startswith("Unschedulable")
    assert "score" not in world.run()["status"]


@pytest.mark.parametrize(
    ("reason", "condition"),
    [
        pytest.param("ErrImagePull", "ImagePullFailed", id="pull"),
        pytest.param("ImagePullBackOff", "ImagePullFailed", id="back-off"),
        pytest.param("InvalidImageName", "ImagePullFailed", id="name"),
        pytest.param("CreateContainerConfigError", "ContainerConfigError", id="config"),
    ],
)
async def test_what_no_waiting_helps_fails_after_a_short_grace(reason, condition):
    world, pod = await a_waiting_world()
    world.kubelet.schedule(pod)
    world.kubelet.waiting(pod, "agent", reason, "acme/task: not found")
    await world.later(2)
    assert world.condition("Progressing") == ("False", condition)
    await world.later(70)
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    (trial,) = world.trials()
    assert trial["status"]["attempts"][0]["failureClass"] == "config"
    assert "acme/task: not found" in trial["status"]["reason"]


async def test_a_nodes_own_limit_on_pulls_passes():
    world, pod = await a_waiting_world()
    world.kubelet.waiting(pod, "agent", "ErrImagePull", "pull QPS exceeded")
    await world.later(200)
    assert world.condition("Complete")[0] == "False"


async def test_a_pod_without_volumes_or_network_is_explained_within_a_minute():
    world, pod = await a_waiting_world()
    world.cluster.change_pod(pod, {"spec": {"nodeName": "node7"}})
    world.kubelet.schedule(pod)
    await world.later(1)
    assert world.condition("Progressing")[1] != "VolumeNotReady"
    await world.later(55)
    assert world.condition("Progressing") == ("False", "VolumeNotReady")


def refusing(message, status=403):
    def refuse(verb, kind, body):
        if (verb, kind.plural) == ("create", "pods"):
            raise RefusedError(status, "Forbidden", message)

    return refuse


async def test_a_quota_is_named_and_asked_again_until_it_is_free():
    world = World()
    world.cluster.before_write = refusing("pods is forbidden: exceeded quota: team")
    await world.apply(run_body())
    assert world.condition("Progressing") == ("False", "QuotaExceeded")
    world.cluster.before_write = lambda verb, kind, body: None
    await world.later(16)
    assert len(world.pods()) == 1
    assert world.condition("Progressing")[1] != "QuotaExceeded"


async def test_a_pod_that_admission_refuses_fails_the_trial_with_its_words():
    world = World()
    world.cluster.before_write = refusing('violates PodSecurity "restricted:latest"')
    await world.apply(run_body())
    await world.later(2)
    assert world.condition("Progressing") == ("False", "AdmissionDenied")
    await world.later(61)
    (trial,) = world.trials()
    assert "violates PodSecurity" in trial["status"]["reason"]
    assert trial["status"]["attempts"][0]["failureClass"] == "config"


async def test_a_server_that_fails_is_no_reason_only_a_repetition():
    world = World()

    def fail(verb, kind, body):
        if kind.plural == "pods":
            raise ClusterError(500, "InternalError", "etcd is slow")

    world.cluster.before_write = fail
    with pytest.raises(ClusterError):
        await world.apply(run_body())
    world.cluster.before_write = lambda verb, kind, body: None
    world.restart()
    await world.settle()
    assert len(world.pods()) == 1


async def test_pods_that_fail_alike_end_the_run_early():
    world = World()
    await world.apply(run_body(repeats=10, parallelism=3))
    for pod in world.pods():
        world.kubelet.waiting(pod["metadata"]["name"], "agent", "InvalidImageName", "no such image")
    await world.later(70)
    counts = world.run()["status"]["trials"]
    assert (counts["errored"], counts["cancelled"]) == (3, 7)
    assert world.at < START + timedelta(minutes=3)
