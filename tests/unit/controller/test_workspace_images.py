"""`workspace.image`: a workspace that lives in the task's image."""

from builders_controller import COMMAND_TASK, World, container, first_pod, run_body
from fakes.kubelet import ended

TESTBED = {"image": {"path": "/testbed"}}
SPEC = {
    "tasks": [{**COMMAND_TASK, "workspace": TESTBED}],
    "sandbox": {"image": "acme/swe:1"},
}


def places(pod, name):
    return {one["name"]: one["mountPath"] for one in container(pod, name)["volumeMounts"]}


def test_the_folder_is_copied_where_nothing_covers_it_and_covered_from_then_on():
    pod = first_pod(**SPEC)
    names = [one["name"] for one in pod["spec"]["initContainers"]]
    assert names == ["stage", "fill", "agent", "checks"]
    fill = container(pod, "fill")
    assert fill["image"] == "acme/swe:1"
    assert fill["command"][3:] == ["fill", "--from", "/testbed", "--to", "/fill"]
    assert places(pod, "fill") == {"runtime": "/proctor", "workspace": "/fill"}
    assert places(pod, "agent")["workspace"] == "/testbed"
    assert places(pod, "checks")["checks-workspace"] == "/testbed"


def test_the_agent_knows_that_its_workspace_is_not_empty():
    command = container(first_pod(**SPEC), "agent")["command"]
    assert command[command.index("--workspace") + 1] == "/testbed"
    assert "--filled" in command
    assert "--filled" not in container(first_pod(), "agent")["command"]


async def test_a_folder_that_cannot_be_copied_is_a_configuration_error_with_its_reason():
    world = World()
    await world.apply(run_body(**SPEC))
    (pod,) = world.pods()
    states = [ended("stage", 0), ended("fill", 1, message="the image has no folder /testbed")]
    world.kubelet.status(
        pod["metadata"]["name"], {"phase": "Failed", "initContainerStatuses": states}
    )
    await world.later(1)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "InfraFailed"
    (attempt,) = trial["status"]["attempts"]
    assert (attempt["failureClass"], attempt["reason"]) == ("config", "WorkspaceNotFilled")
    assert "no folder /testbed" in trial["status"]["reason"]
