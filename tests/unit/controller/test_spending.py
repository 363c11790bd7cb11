"""What the gateway counts while a run goes on: in EvalTrials and in the status, few writes more."""

from decimal import Decimal

from builders_controller import MINI, World, run_body
from proctor.api.usage import RunSpending

MODEL_RUN = {"agent": MINI, "budget": {"usd": 2.5}}


async def a_running_world(**spec):
    world = World()
    await world.apply(run_body(**{**MODEL_RUN, **spec}))
    for pod in world.pods():
        world.kubelet.run_agent(pod["metadata"]["name"])
    await world.settle()
    return world


async def test_an_evaltrial_tells_the_gateway_its_run_and_the_runs_budget():
    world = await a_running_world()
    (trial,) = world.trials()
    assert trial["spec"]["runUid"] == world.run()["metadata"]["uid"]
    assert trial["spec"]["runBudgetUsd"] == "2.5"


async def test_spending_so_far_is_in_the_status():
    world = await a_running_world()
    world.bills.spent = RunSpending(calls=3, cost_usd=Decimal("0.25"))
    await world.later(31)
    spending = world.run()["status"]["spending"]
    assert (spending["modelCalls"], spending["costUsd"]) == (3, "0.25")


async def test_spending_alone_is_written_every_half_minute_at_most():
    world = await a_running_world()
    world.bills.spent = RunSpending(calls=1)
    await world.later(31)
    world.cluster.writes.clear()
    for calls in range(2, 14):
        world.bills.spent = RunSpending(calls=calls)
        await world.later(5)
    assert len(world.cluster.writes) <= 2


async def test_a_used_up_budget_starts_no_further_trial_and_is_a_condition():
    world = await a_running_world(repeats=3, parallelism=1)
    world.bills.spent = RunSpending(calls=9, cost_usd=Decimal(3))
    await world.later(6)
    counts = world.run()["status"]["trials"]
    assert (counts["running"], counts["cancelled"], len(world.pods())) == (1, 2, 1)
    assert world.condition("BudgetExceeded") == ("True", "BudgetUsedUp")
    world.pass_pod(world.pods()[0])
    await world.later(2)
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    assert "spending" not in world.run()["status"]


async def test_a_restart_of_the_operator_starts_no_trial_that_was_given_up():
    world = await a_running_world(repeats=3, parallelism=1)
    world.bills.spent = RunSpending(calls=9, cost_usd=Decimal(3))
    await world.later(6)
    world.bills.spent = None  # and the gateway cannot be asked
    world.restart()
    world.pass_pod(world.pods()[0])
    await world.later(6)
    assert len(world.trials()) == 1
    assert world.run()["status"]["trials"]["cancelled"] == 2
