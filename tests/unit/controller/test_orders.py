"""Orders in ConfigMaps: hidden parts apart, named by content, of bounded size."""

import json
from dataclasses import replace

import pytest

from builders_controller import COMMAND_TASK, planned_run
from proctor.api.errors import SpecError
from proctor.api.orders import AgentOrders, ChecksOrders, GradeOrders
from proctor.controller.orders import LARGEST_BYTES, PACK_BYTES, pack_orders

SECRET = "the expected answer is 42"


def a_task(number, size=0):
    files = [{"path": "data.txt", "content": f"{number:04}" * (size // 4)}]
    return {**COMMAND_TASK, "name": f"task-{number}", "workspace": {"files": files}}


def the_text(planned, place):
    name, key = place
    return planned.orders.config_maps[name]["data"][key]


def test_every_order_stands_where_its_place_says():
    planned = planned_run(tasks=[a_task(1)])
    placed = planned.orders.places["task-1", "default"]
    cell = planned.plan.cells["task-1", "default"]
    agent, checks, grade = (
        json.loads(the_text(planned, place))
        for place in (placed.agent, placed.checks, placed.grade)
    )
    assert AgentOrders.from_json(agent) == cell.orders.agent
    assert ChecksOrders.from_json(checks) == cell.orders.checks
    assert GradeOrders.from_json(grade) == cell.orders.grade


def test_what_is_hidden_is_in_no_object_that_an_agent_may_mount():
    reference = {"files": [{"path": "answer.txt", "content": SECRET}]}
    criteria = [{"type": "file_contains", "path": "a", "includes": [SECRET]}]
    planned = planned_run(tasks=[{**a_task(1), "reference": reference, "criteria": criteria}])
    shown = {placed.agent[0] for placed in planned.orders.places.values()}
    assert shown
    assert all(SECRET not in str(planned.orders.config_maps[name]) for name in shown)


def test_repeats_share_their_orders():
    once, often = planned_run(tasks=[a_task(1)]), planned_run(tasks=[a_task(1)], repeats=50)
    assert once.orders == often.orders


def test_many_orders_are_packed_into_few_objects_below_the_limit():
    planned = planned_run(tasks=[a_task(number, 60_000) for number in range(20)])
    sizes = [
        sum(len(text) for text in body["data"].values())
        for body in planned.orders.config_maps.values()
    ]
    assert max(sizes) <= PACK_BYTES
    assert 3 <= len(sizes) <= 6


def test_objects_are_immutable_and_owned_by_the_run():
    for body in planned_run().orders.config_maps.values():
        assert body["immutable"] is True
        assert [owner["uid"] for owner in body["metadata"]["ownerReferences"]] == ["run-uid"]
        assert body["metadata"]["labels"]["proctor.dev/run-uid"] == "run-uid"


def test_other_content_has_another_name():
    first = planned_run(tasks=[a_task(1)]).orders.config_maps
    second = planned_run(tasks=[a_task(1, 5)]).orders.config_maps
    assert len(first.keys() - second.keys()) == 1


def test_an_order_that_no_object_can_hold_is_the_users_problem():
    plan = planned_run().plan
    cell = plan.cells["greet", "default"]
    agent = replace(cell.orders.agent, prompt="x" * (LARGEST_BYTES + 1))
    large = replace(cell, orders=replace(cell.orders, agent=agent))
    with pytest.raises(SpecError, match="put large files into the task's image"):
        pack_orders(replace(plan, cells={("greet", "default"): large}), "team", "run", "uid", {})
