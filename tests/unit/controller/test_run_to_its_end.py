"""A run from its creation to its end, over a fake cluster."""

from builders_controller import World, run_body


async def test_a_passing_trial_completes_the_run():
    world = World()
    await world.apply(run_body())
    (pod,) = world.pods()
    world.pass_pod(pod)
    await world.settle()
    status = world.run()["status"]
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    assert (status["score"], status["costUsd"], status["trials"]["passed"]) == ("1", "0.5", 1)


async def test_a_trial_without_faults_takes_at_most_five_writes():
    world = World()
    await world.apply(run_body(repeats=10))
    for pod in world.pods():
        world.pass_pod(pod)
    await world.settle()
    shared = ("serviceaccounts", "configmaps", "networkpolicies", "evalruns", "events")
    own = [write for write in world.cluster.writes if write[1] not in shared]
    assert len(own) <= 5 * 10
    assert not world.pods()
