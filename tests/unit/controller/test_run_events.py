"""Events of a run: a handful, of what people look for, each once."""

import pytest

from builders_controller import World, run_body
from proctor.controller.cluster import EVENTS, ClusterError


def told(world):
    """(type, reason) of all Events, in order."""
    return [(one["type"], one["reason"]) for one in world.cluster.bodies(EVENTS)]


async def test_a_run_is_accepted_and_ends():
    world = World()
    await world.apply(run_body())
    world.pass_pod(world.pods()[0])
    await world.later(2)
    assert told(world) == [("Normal", "Accepted"), ("Normal", "AllTrialsFinished")]
    accepted, ended = world.cluster.bodies(EVENTS)
    assert accepted["message"] == "1 trials, agent command"
    assert ended["message"] == "1 of 1 trials passed, 0 failed, 0 without a score; score 1"
    assert ended["involvedObject"]["uid"] == world.run()["metadata"]["uid"]


async def test_trials_without_a_fault_cost_no_event():
    world = World()
    await world.apply(run_body(repeats=5))
    for pod in world.pods():
        world.pass_pod(pod)
        await world.later(2)
    assert len(told(world)) == 2


async def test_a_run_that_cannot_be_used_is_told_with_field_and_remedy():
    world = World()
    await world.apply(run_body(agent={"type": "nobody"}))
    assert told(world) == [("Warning", "Rejected")]
    assert "spec.agent.type" in world.cluster.bodies(EVENTS)[0]["message"]


async def test_the_first_trials_that_the_platform_failed_are_told():
    world = World()
    await world.apply(run_body(repeats=5, failurePolicy={"infraRetries": 0}))
    for pod in world.pods():
        world.kubelet.disrupt(pod["metadata"]["name"])
        await world.later(2)
    faults = [one for one in told(world) if one == ("Warning", "InfraFailed")]
    assert len(faults) == 3
    assert told(world)[-1] == ("Warning", "AllTrialsFinished")


async def test_a_restart_makes_no_second_one():
    world = World()
    await world.apply(run_body())
    world.restart()
    await world.settle()
    assert told(world) == [("Normal", "Accepted")]


async def test_a_cluster_that_takes_no_events_keeps_no_run_from_its_end():
    world = World()

    def refuse(verb, kind, body):
        if kind is EVENTS:
            raise ClusterError(403, "Forbidden", "no events")

    world.cluster.before_write = refuse
    await world.apply(run_body())
    world.pass_pod(world.pods()[0])
    await world.later(2)
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    assert told(world) == []


@pytest.mark.parametrize("gate", [{"minScore": 1}])
async def test_a_gate_that_was_missed_is_a_warning(gate):
    world = World()
    await world.apply(run_body(gate=gate))
    world.pass_pod(world.pods()[0], score="0")
    await world.later(2)
    assert told(world)[-1][0] == "Warning"
    assert "gate Failed" in world.cluster.bodies(EVENTS)[-1]["message"]
