"""Plans of many large bundles do not add up in the operator: those not used for longest go."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from builders_controller import NAMESPACE, World, planned_run, run_body
from builders_planning import a_spec, a_task
from proctor.controller.cluster import EVAL_RUNS
from proctor.controller.memory import RunMemory, bound_plans

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def a_memory(name, minute, size_bytes=10, **changes):
    planned = planned_run()
    orders = replace(planned.orders, size_bytes=size_bytes)
    planned = replace(planned, orders=orders, **changes)
    return RunMemory(name, 1, planned, NOON + timedelta(minutes=minute))


def held(memories):
    return [one.run_uid for one in memories if one.planned is not None]


def test_what_fits_stays():
    memories = [a_memory("a", 1), a_memory("b", 2)]
    bound_plans(memories, memories[1], most_bytes=20)
    assert held(memories) == ["a", "b"]


def test_the_plan_that_was_not_used_for_longest_goes_first():
    memories = [a_memory("a", 3), a_memory("b", 1), a_memory("c", 2), a_memory("d", 4)]
    bound_plans(memories, memories[3], most_bytes=20)
    assert held(memories) == ["a", "d"]


def test_the_newest_stays_however_large_it_is():
    memories = [a_memory("a", 1), a_memory("b", 0, size_bytes=100)]
    bound_plans(memories, memories[1], most_bytes=20)
    assert held(memories) == ["b"]


def test_a_plan_of_a_config_map_stays_because_that_may_hold_something_else_by_now():
    memories = [a_memory("a", 1, sources_digest="d" * 64), a_memory("b", 2), a_memory("c", 3)]
    bound_plans(memories, memories[2], most_bytes=20)
    assert held(memories) == ["a", "c"]


def test_a_plan_knows_how_large_its_orders_are():
    orders = planned_run().orders
    texts = [text for body in orders.config_maps.values() for text in body["data"].values()]
    assert orders.size_bytes == sum(map(len, texts))


async def test_runs_whose_plans_take_turns_all_come_to_their_end():
    world = World(planBytes=1)
    digest = await world.bundles.push(NAMESPACE, a_spec(tasks=[a_task("a"), a_task("b")]).tasks)
    for name in ("one", "two", "three"):
        body = run_body(tasksFrom=[{"bundle": {"digest": digest}}], parallelism=1)
        del body["spec"]["tasks"]
        body["metadata"]["name"] = name
        await world.cluster.create(EVAL_RUNS, body)
    await world.settle()
    for _ in range(2):
        for pod in world.pods():
            if "deletionTimestamp" not in pod["metadata"]:
                world.pass_pod(pod)
        await world.later(2)
    ended = [body["status"]["trials"]["passed"] for body in world.cluster.bodies(EVAL_RUNS)]
    assert ended == [2, 2, 2]
