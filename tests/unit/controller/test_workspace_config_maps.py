"""`workspace.configMap`: what it holds when the run is accepted is what every trial gets."""

import base64
import json

import pytest

from builders_controller import NAMESPACE, World, run_body
from proctor.controller.cluster import CONFIG_MAPS, EVAL_RUNS

TASK = {
    "name": "greet",
    "prompt": "Say hello.",
    "workspace": {
        "configMap": {"name": "starter", "path": "src"},
        "files": [{"path": "src/b.txt", "content": "of the task"}],
    },
    "criteria": [{"type": "file_exists", "path": "hello.txt"}],
}


def starter(**data):
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "starter", "namespace": NAMESPACE},
        "data": data,
        "binaryData": {"c.bin": base64.b64encode(b"\xff").decode()},
    }


def laid(world):
    """Path → content of the files that the agent's orders lay."""
    bodies = [body for body in world.cluster.bodies(CONFIG_MAPS) if "-agent-" in str(body)]
    (text,) = [text for body in bodies for text in body["data"].values() if "adapter" in text]
    files = json.loads(text)["files"]
    return {file["path"]: base64.b64decode(file["data"]) for file in files}


@pytest.fixture
async def accepted():
    world = World()
    await world.cluster.create(CONFIG_MAPS, starter(**{"a.txt": "of the map", "b.txt": "below"}))
    await world.apply(run_body(tasks=[TASK]))
    return world


async def test_its_files_lie_below_those_of_the_task(accepted):
    assert laid(accepted) == {
        "src/a.txt": b"of the map",
        "src/b.txt": b"of the task",
        "src/c.bin": b"\xff",
    }
    assert len(accepted.run()["status"]["sourcesDigest"]) == 64


async def test_a_missing_one_is_awaited_for_a_minute_and_then_named():
    world = World()
    await world.apply(run_body(tasks=[TASK]))
    assert world.condition("Accepted") == ("Unknown", "SourceNotFound")
    assert world.condition("Complete") == ("False", "InProgress")
    await world.later(65)
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert "no ConfigMap 'starter'" in str(world.run()["status"]["conditions"])


async def test_one_that_comes_a_moment_later_is_used():
    world = World()
    await world.apply(run_body(tasks=[TASK]))
    await world.cluster.create(CONFIG_MAPS, starter(**{"a.txt": "late"}))
    await world.later(6)
    assert world.condition("Accepted") == ("True", "Resolved")
    assert laid(world)["src/a.txt"] == b"late"


async def test_a_restarted_operator_refuses_to_go_on_with_other_files(accepted):
    await accepted.cluster.patch(CONFIG_MAPS, NAMESPACE, "starter", {"data": {"a.txt": "changed"}})
    await accepted.later(2)
    assert accepted.condition("Accepted")[0] == "True"
    accepted.restart()
    await accepted.cluster.patch(EVAL_RUNS, NAMESPACE, "run", {"metadata": {"labels": {"a": "b"}}})
    await accepted.settle()
    assert accepted.condition("Accepted") == ("False", "SpecInvalid")
    assert "under a new name" in str(accepted.run()["status"]["conditions"])
