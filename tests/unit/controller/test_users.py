"""`sandbox.user`: who the containers of a trial run as, and who has to allow it."""

import pytest

from builders_controller import COMMAND_TASK, World, container, first_pod, run_body
from proctor.controller.shape import shape_digest

ALLOWED = {"allowImageUser": True}
IMAGE = {"sandbox": {"user": "Image"}}
EVERYTHING = {"tasks": [COMMAND_TASK], **IMAGE}


def pod_of_the_images_user(**trial):
    return first_pod(changes={"trial": {**ALLOWED, **trial}}, **EVERYTHING)


async def test_the_images_user_must_be_allowed():
    world = World()
    await world.apply(run_body(**EVERYTHING))
    (accepted,) = [c for c in world.run()["status"]["conditions"] if c["type"] == "Accepted"]
    assert accepted["status"] == "False"
    assert "trials.allowImageUser" in accepted["message"]
    assert world.pods() == []


async def test_a_run_shows_which_user_it_uses():
    world = World(trial=ALLOWED)
    await world.apply(run_body(**EVERYTHING))
    assert world.run()["status"]["user"] == "Image"
    world = World()
    await world.apply(run_body())
    assert world.run()["status"]["user"] == "NonRoot"


@pytest.mark.parametrize("name", ["agent", "checks"])
def test_containers_of_the_tasks_image_run_as_it_says_with_roots_rights_over_files(name):
    security = container(pod_of_the_images_user(), name)["securityContext"]
    assert "runAsUser" not in security
    assert "runAsNonRoot" not in security
    assert security["capabilities"]["drop"] == ["ALL"]
    assert {"CHOWN", "DAC_OVERRIDE", "SETUID"} <= set(security["capabilities"]["add"])
    assert not {"SYS_PTRACE", "SYS_ADMIN", "NET_RAW"} & set(security["capabilities"]["add"])
    assert security["allowPrivilegeEscalation"] is False


@pytest.mark.parametrize("name", ["stage", "grade"])
def test_our_own_containers_stay_unprivileged(name):
    assert container(pod_of_the_images_user(), name)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "runAsUser": 64000,
        "runAsGroup": 64000,
    }


def test_the_pod_forces_no_user_but_a_group_for_its_volumes():
    expected = {"seccompProfile": {"type": "RuntimeDefault"}, "fsGroup": 64000}
    assert pod_of_the_images_user()["spec"]["securityContext"] == expected
    assert pod_of_the_images_user(userId=None)["spec"]["securityContext"] == expected


def test_a_user_namespace_is_asked_for_where_nodes_have_it():
    with_namespace = pod_of_the_images_user(userNamespaces=True)
    assert with_namespace["spec"]["hostUsers"] is False
    assert "hostUsers" not in pod_of_the_images_user()["spec"]
    assert "hostUsers" not in first_pod(changes={"trial": {"userNamespaces": True}})["spec"]
    assert shape_digest(with_namespace) != shape_digest(pod_of_the_images_user())
