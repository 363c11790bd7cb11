"""`tasksFrom.bundle`: tasks that lie on the results server, and what happens when they do not."""

import json

import pytest

from builders_controller import NAMESPACE, World, run_body
from builders_planning import a_spec, a_task
from proctor.api.errors import SpecError
from proctor.controller.bundles import NoBundles
from proctor.controller.cluster import CONFIG_MAPS, EVAL_RUNS

HIDDEN = {"files": [{"path": "expected.txt", "content": "forty-two"}]}
CHECK = {"type": "run_command", "command": "diff expected.txt answer.txt"}
TASKS = a_spec(
    tasks=[a_task("a"), a_task("b", reference=HIDDEN, criteria=[CHECK])],
).tasks
DIGEST = f"sha256:{'d' * 64}"


def named(digest, **spec):
    body = run_body(tasksFrom=[{"bundle": {"digest": digest}}], **spec)
    if "tasks" not in spec:
        del body["spec"]["tasks"]
    return body


def said(world):
    return str(world.run()["status"]["conditions"])


def tasks_of(world):
    return sorted(trial["spec"]["task"] for trial in world.trials())


@pytest.fixture
async def world():
    return World()


@pytest.fixture
async def accepted(world):
    await world.apply(named(await world.bundles.push(NAMESPACE, TASKS)))
    return world


async def test_its_tasks_are_the_tasks_of_the_run(accepted):
    assert accepted.condition("Accepted") == ("True", "Resolved")
    assert tasks_of(accepted) == ["a", "b"]
    assert accepted.run()["status"]["trials"]["total"] == 2


async def test_they_come_beside_inline_tasks(world):
    digest = await world.bundles.push(NAMESPACE, TASKS)
    await world.apply(named(digest, tasks=[a_task("inline")]))
    assert tasks_of(world) == ["a", "b", "inline"]


async def test_hidden_parts_are_never_in_an_object_that_an_agent_sees(accepted):
    bodies = {body["metadata"]["name"]: body for body in accepted.cluster.bodies(CONFIG_MAPS)}
    shown = {name: json.dumps(body) for name, body in bodies.items() if "-agent-" in name}
    assert len(shown) > 0
    for name, text in shown.items():
        assert "expected.txt" not in text, name
        assert "hello.txt" not in text, name
    assert any("expected.txt" in json.dumps(body) for body in bodies.values())


async def test_a_restarted_operator_plans_the_same_trials(accepted):
    before = {trial["metadata"]["name"] for trial in accepted.trials()}
    accepted.restart()
    await accepted.settle()
    await accepted.later(10)
    assert {trial["metadata"]["name"] for trial in accepted.trials()} == before
    assert accepted.condition("Accepted") == ("True", "Resolved")


async def test_a_bundle_that_is_not_there_is_refused_with_the_remedy(world):
    await world.apply(named(DIGEST))
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert world.condition("Complete") == ("True", "Rejected")
    assert f"push it again in this namespace: proctor push FOLDER -n {NAMESPACE}" in said(world)
    assert "spec.tasksFrom[0].bundle.digest" in said(world)


async def test_a_bundle_of_another_namespace_is_not_there(world):
    await world.apply(named(await world.bundles.push("rivals", TASKS)))
    assert world.condition("Accepted") == ("False", "SpecInvalid")


async def test_while_the_results_server_does_not_answer_the_run_waits_and_says_why(world):
    digest = await world.bundles.push(NAMESPACE, TASKS)
    world.bundles.failure = "the results server: results:8081 cannot be reached"
    await world.apply(named(digest))
    assert world.condition("Accepted") == ("Unknown", "SourceUnavailable")
    assert world.condition("Complete") == ("False", "InProgress")
    assert "results:8081 cannot be reached" in said(world)
    await world.later(600)
    assert (world.condition("Accepted")[0], tasks_of(world)) == ("Unknown", [])

    world.bundles.failure = None
    await world.later(6)
    assert world.condition("Accepted") == ("True", "Resolved")
    assert tasks_of(world) == ["a", "b"]


async def test_a_run_that_waits_can_be_cancelled(world):
    world.bundles.failure = "the results server: gone"
    await world.apply(named(DIGEST))
    await world.cluster.patch(EVAL_RUNS, NAMESPACE, "run", {"spec": {"cancelled": True}})
    await world.later(6)
    assert world.condition("Complete") == ("True", "Rejected")
    assert "the run was cancelled" in said(world)


async def test_a_run_that_has_started_needs_no_results_server_to_be_stopped(accepted):
    accepted.bundles.failure = "the results server: gone"
    await accepted.cluster.patch(EVAL_RUNS, NAMESPACE, "run", {"spec": {"suspend": True}})
    await accepted.later(6)
    assert accepted.condition("Accepted") == ("True", "Resolved")
    assert accepted.run()["status"]["state"] == "Suspended"
    await accepted.cluster.patch(EVAL_RUNS, NAMESPACE, "run", {"spec": {"cancelled": True}})
    await accepted.later(60)
    assert accepted.condition("Complete") == ("True", "Cancelled")


async def test_a_run_that_has_started_waits_for_a_bundle_that_was_lost(accepted):
    accepted.bundles.lose()
    accepted.restart()
    await accepted.settle()
    await accepted.later(6)
    assert accepted.condition("Accepted") == ("Unknown", "SourceNotFound")
    assert accepted.condition("Complete") == ("False", "InProgress")
    assert "push it again in this namespace" in said(accepted)

    await accepted.bundles.push(NAMESPACE, TASKS)
    await accepted.later(6)
    assert accepted.condition("Accepted") == ("True", "Resolved")
    assert tasks_of(accepted) == ["a", "b"]


async def test_a_run_that_has_started_waits_no_longer_than_it_may_take(world):
    digest = await world.bundles.push(NAMESPACE, TASKS)
    await world.apply(named(digest, activeDeadlineSeconds=60))
    world.bundles.lose()
    world.restart()
    await world.later(30)
    assert world.condition("Complete") == ("False", "InProgress")
    await world.later(31)
    assert world.condition("Complete") == ("True", "DeadlineExceeded")


async def test_what_is_wrong_with_a_task_of_a_bundle_is_named_at_the_bundle(world):
    criteria = [{"type": "guessed"}]
    digest = await world.bundles.push(NAMESPACE, a_spec(tasks=[a_task(criteria=criteria)]).tasks)
    await world.apply(named(digest))
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert "spec.tasksFrom[0].bundle.tasks[0].criteria[0].type" in said(world)


async def test_more_than_the_operator_can_hold_is_refused_with_the_limit(world):
    files = [{"path": f"{number}.txt", "content": "x" * 60_000} for number in range(60)]
    digest = await world.bundles.push(
        NAMESPACE, a_spec(tasks=[a_task(reference={"files": files})]).tasks
    )
    await world.apply(named(digest, variants=[{"name": f"v{number}"} for number in range(10)]))
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert "bundles times variants are more than 32 MiB" in said(world)


async def test_without_a_results_server_the_remedy_is_to_install_it():
    with pytest.raises(SpecError, match=r"results\.enabled"):
        await NoBundles().parts(NAMESPACE, DIGEST)
