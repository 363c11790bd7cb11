"""What webhooks of a cluster make of a trial's pod: named, and refused unless it is allowed."""

import copy

import pytest

from builders_controller import COMMAND_TASK, MINI, World, first_pod, run_body
from proctor.controller.changes import not_allowed, pod_changes

PROXY = {"name": "istio-proxy", "image": "istio"}


def changed(change):
    pod = first_pod(agent=MINI, tasks=[COMMAND_TASK])
    after = copy.deepcopy(pod)
    change(after["spec"])
    return pod_changes(pod, after)


def agent_of(spec):
    return spec["initContainers"][1]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param(
            lambda s: s["containers"].append(PROXY), "container/istio-proxy", id="sidecar"
        ),
        pytest.param(
            lambda s: s.update(ephemeralContainers=[PROXY]), "container/istio-proxy", id="ephemeral"
        ),
        pytest.param(lambda s: s["initContainers"].pop(0), "container/stage", id="taken-away"),
        pytest.param(
            lambda s: s["volumes"].append({"name": "ca", "emptyDir": {}}), "volume/ca", id="volume"
        ),
        pytest.param(
            lambda s: agent_of(s).update(image="mirror/task:1"), "image/agent", id="image"
        ),
        pytest.param(
            lambda s: agent_of(s).update(env=[{"name": "HTTP_PROXY", "value": "x"}]),
            "env/agent/HTTP_PROXY",
            id="variable",
        ),
        pytest.param(
            lambda s: agent_of(s)["volumeMounts"].append({"name": "ca", "mountPath": "/etc/ssl"}),
            "mount/agent/etc/ssl",
            id="mount",
        ),
        pytest.param(lambda s: agent_of(s).update(command=["sh"]), "command/agent", id="command"),
        pytest.param(
            lambda s: agent_of(s)["securityContext"].update(privileged=True),
            "security/agent",
            id="privileged",
        ),
        pytest.param(lambda s: s.update(hostNetwork=True), "pod/hostNetwork", id="host-network"),
        pytest.param(
            lambda s: s.update(automountServiceAccountToken=True),
            "pod/automountServiceAccountToken",
            id="token",
        ),
        pytest.param(lambda s: s["initContainers"].reverse(), "order/initContainers", id="order"),
    ],
)
def test_each_change_is_named(change, named):
    assert changed(change) == (named,)


def test_what_decides_nothing_is_no_change():
    def schedule(spec):
        spec.update(nodeName="n", priority=0, schedulerName="default-scheduler")
        spec["tolerations"] = [{"key": "node.kubernetes.io/not-ready", "operator": "Exists"}]

    assert changed(schedule) == ()


def test_patterns_allow_by_kind_and_name():
    changes = ("container/istio-proxy", "env/agent/HTTP_PROXY", "mount/agent/etc/ssl")
    assert not_allowed(changes, ["container/istio-*", "mount/agent/*"]) == ("env/agent/HTTP_PROXY",)


def a_world_that_injects(container, **settings):
    world = World(**settings)

    def inject(verb, kind, body):
        if (verb, kind.plural) == ("create", "pods"):
            body["spec"]["containers"].append(container)

    world.cluster.before_write = inject
    return world


async def test_a_sidecar_that_is_not_allowed_voids_the_trial_and_says_what_to_do():
    world = a_world_that_injects(PROXY)
    await world.apply(run_body())
    await world.later(2)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "InfraFailed"
    reason = trial["status"]["reason"]
    assert reason.startswith("PodChanged: container/istio-proxy")
    assert "trials.allowChanges" in reason


async def test_a_sidecar_that_is_allowed_stands_in_the_trial():
    world = a_world_that_injects(PROXY, trial={"allowChanges": ["container/istio-*"]})
    await world.apply(run_body())
    (pod,) = world.pods()
    world.pass_pod(pod)
    await world.later(2)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "Passed"
    assert trial["status"]["podChanges"] == ["container/istio-proxy"]


async def test_a_restart_loses_nothing_of_what_was_allowed():
    world = a_world_that_injects(PROXY, trial={"allowChanges": ["container/istio-*"]})
    await world.apply(run_body())
    (pod,) = world.pods()
    world.restart()
    await world.settle()
    world.pass_pod(pod)
    await world.later(2)
    assert world.trials()[0]["status"]["podChanges"] == ["container/istio-proxy"]


async def test_what_is_changed_after_admission_is_never_allowed():
    world = a_world_that_injects(PROXY, trial={"allowChanges": ["container/*", "image/*"]})
    await world.apply(run_body())
    (pod,) = world.pods()
    pod["spec"]["containers"][0]["image"] = "evil/grade:1"
    world.cluster.change_pod(pod["metadata"]["name"], {"spec": pod["spec"]})
    world.pass_pod(pod)
    await world.later(2)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "InfraFailed"
    assert "image/grade" in trial["status"]["reason"]


async def test_a_pod_that_was_left_as_it_was_costs_no_request_more():
    world = World()
    await world.apply(run_body())
    await world.later(2)
    assert [(verb, plural) for verb, plural, _ in world.cluster.writes].count(
        ("patch", "evaltrials")
    ) == 0
