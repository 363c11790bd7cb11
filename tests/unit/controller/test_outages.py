"""An operator that comes back while what a run is planned from is away: nothing is lost."""

import json
from datetime import timedelta

import pytest

from builders_controller import GATEWAY_SERVICE, NAMESPACE, Bill, World, run_body
from builders_planning import a_spec, a_task
from proctor.controller.bundles import NoBundles
from proctor.controller.cluster import CONFIG_MAPS, EVAL_RUNS, SERVICES
from proctor.planning.bundle import packed

TASKS = a_spec(tasks=[a_task("a"), a_task("b"), a_task("c")]).tasks
LATER = timedelta(seconds=6)
GONE = "the results server: results:8081 cannot be reached"


async def a_run(**spec):
    """Three trials, two at a time; both pods exist."""
    world = World()
    digest = await world.bundles.push(NAMESPACE, TASKS)
    body = run_body(**{"parallelism": 2, **spec}, tasksFrom=[{"bundle": {"digest": digest}}])
    del body["spec"]["tasks"]
    await world.apply(body)
    for pod in world.pods():
        world.kubelet.run_agent(pod["metadata"]["name"])
    await world.later(2)
    return world


async def back_without_results(world):
    world.bundles.failure = GONE
    world.restart()
    await world.later(2)


async def edit(world, **spec):
    await world.cluster.patch(EVAL_RUNS, NAMESPACE, "run", {"spec": spec})
    await world.later(6)


def outcomes(world):
    return sorted(trial.get("status", {}).get("outcome", "") for trial in world.trials())


def counts(world):
    return {key: count for key, count in world.run()["status"]["trials"].items() if count}


def assert_no_pod_is_held(world):
    assert all("finalizers" not in pod["metadata"] for pod in world.pods())


async def test_a_run_that_is_cancelled_meanwhile_keeps_the_verdicts_of_pods_that_ended():
    # It was rejected, and its pods were let go of with their verdicts in them.
    world = await a_run()
    done, _ = world.pods()
    world.bundles.failure = GONE
    world.restart()
    world.pass_pod(done)
    await edit(world, cancelled=True)
    assert outcomes(world) == ["Cancelled", "Passed"]
    assert world.condition("Accepted") == ("True", "Resolved")
    assert world.condition("Complete") == ("True", "Cancelled")
    assert counts(world) == {"total": 3, "passed": 1, "cancelled": 2}
    status = world.run()["status"]
    assert (status["score"], status["completionRatio"]) == ("1", "0.333333")
    assert [(one["name"], one["total"]) for one in status["variants"]] == [("default", 3)]
    await world.later(30)
    assert_no_pod_is_held(world)


async def test_one_whose_time_is_over_keeps_them_too():
    world = await a_run(activeDeadlineSeconds=60)
    done, _ = world.pods()
    world.bundles.failure = GONE
    world.restart()
    world.pass_pod(done)
    await world.later(70)
    assert outcomes(world) == ["Cancelled", "Passed"]
    assert world.condition("Complete") == ("True", "DeadlineExceeded")
    assert counts(world) == {"total": 3, "passed": 1, "cancelled": 2}


async def test_verdicts_are_taken_while_the_run_waits_and_it_goes_on_afterwards():
    world = await a_run()
    await back_without_results(world)
    for pod in world.pods():
        world.pass_pod(pod)
    await world.later(6)
    assert world.condition("Accepted") == ("Unknown", "SourceUnavailable")
    assert world.condition("Complete") == ("False", "InProgress")
    assert outcomes(world) == ["Passed", "Passed"]
    assert counts(world) == {"total": 3, "passed": 2, "pending": 1}

    world.bundles.failure = None
    await world.later(6)
    assert world.condition("Accepted") == ("True", "Resolved")
    (last,) = [pod for pod in world.pods() if "finalizers" in pod["metadata"]]
    world.pass_pod(last)
    await world.later(6)
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    assert counts(world) == {"total": 3, "passed": 3}


async def test_criteria_have_the_same_names_with_and_without_the_plan():
    world = await a_run()
    first, second = world.pods()
    world.pass_pod(first)
    await world.later(2)
    await back_without_results(world)
    world.pass_pod(second)
    await world.later(6)
    said = [trial["status"]["criteria"] for trial in world.trials() if "status" in trial]
    assert said == [[{"name": "file_exists[0]", "score": "1", "passed": True}]] * 2


async def test_a_run_of_which_all_trials_ended_needs_its_bundle_no_more():
    world = await a_run(parallelism=3)
    await back_without_results(world)
    for pod in world.pods():
        world.pass_pod(pod)
    await world.later(6)
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    assert counts(world) == {"total": 3, "passed": 3}


async def test_a_run_that_waits_says_so_once():
    world = await a_run()
    await back_without_results(world)
    world.cluster.writes.clear()
    await world.later(60)
    await world.later(60)
    assert world.cluster.writes == []


async def test_suspend_stops_its_pods_and_uses_up_no_retry():
    world = await a_run()
    await back_without_results(world)
    await edit(world, suspend=True)
    assert all("deletionTimestamp" in pod["metadata"] for pod in world.pods())
    assert {trial["status"]["attempts"][0]["reason"] for trial in world.trials()} == {"Interrupted"}
    assert world.condition("Accepted") == ("Unknown", "SourceUnavailable")


async def test_an_operator_that_died_before_it_wrote_that_the_run_started_rejects_nothing():
    world = World()
    digest = await world.bundles.push(NAMESPACE, TASKS)
    body = run_body(tasksFrom=[{"bundle": {"digest": digest}}])
    del body["spec"]["tasks"]

    def dying(verb, kind, body):
        if (verb, kind.plural) == ("patch", "evalruns"):
            raise KeyboardInterrupt

    world.cluster.before_write = dying
    with pytest.raises(KeyboardInterrupt):
        await world.apply(body)
    world.cluster.before_write = lambda verb, kind, body: None
    done = world.pods()[0]
    world.bundles.failure = GONE
    world.restart()
    world.pass_pod(done)
    await edit(world, cancelled=True)
    # How many trials it has stands nowhere: it cannot be told what it reached.
    assert world.condition("Accepted") == ("Unknown", "SourceUnavailable")
    assert "Passed" in outcomes(world)
    world.bundles.failure = None
    await world.later(6)
    assert world.condition("Complete") == ("True", "Cancelled")
    assert counts(world) == {"total": 3, "passed": 1, "cancelled": 2}


async def test_a_run_that_started_waits_when_there_is_no_results_server_any_more():
    world = await a_run()
    world.bundles = NoBundles()
    world.restart()
    await world.later(6)
    assert world.condition("Accepted") == ("Unknown", "SourceUnavailable")
    assert "results.enabled" in str(world.run()["status"]["conditions"])


async def test_a_bundle_that_cannot_be_used_any_more_ends_the_run_with_the_verdicts_that_exist():
    world = await a_run()
    done, _ = world.pods()
    digest = world.run()["spec"]["tasksFrom"][0]["bundle"]["digest"]
    broken = packed(a_spec(tasks=[a_task("a", criteria=[{"type": "guessed"}])]).tasks).parts
    world.bundles.hold(NAMESPACE, digest, broken)
    world.restart()
    world.pass_pod(done)
    await world.later(6)
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert outcomes(world) == ["Cancelled", "Passed"]
    assert counts(world) == {"total": 3, "passed": 1, "cancelled": 2}
    await world.later(30)
    assert_no_pod_is_held(world)


MAPPED = {
    "name": "greet",
    "prompt": "Say hello.",
    "workspace": {"configMap": {"name": "starter"}},
    "criteria": [{"type": "file_exists", "path": "hello.txt"}],
}
STARTER = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "starter", "namespace": NAMESPACE},
    "data": {"a.txt": "a"},
}


async def a_run_of_a_config_map(**spec):
    world = World()
    await world.cluster.create(CONFIG_MAPS, STARTER)
    await world.apply(run_body(tasks=[MAPPED], repeats=2, **spec))
    return world


async def test_other_files_in_its_config_map_end_a_run_with_the_verdicts_that_exist():
    world = await a_run_of_a_config_map()
    await world.cluster.patch(CONFIG_MAPS, NAMESPACE, "starter", {"data": {"a.txt": "changed"}})
    world.restart()
    world.pass_pod(world.pods()[0])
    await world.later(6)
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert outcomes(world) == ["Cancelled", "Passed"]
    assert counts(world) == {"total": 2, "passed": 1, "cancelled": 1}


async def test_a_run_that_started_waits_for_its_config_map():
    world = await a_run_of_a_config_map()
    world.cluster.delete_now(("configmaps", NAMESPACE, "starter"))
    world.restart()
    world.pass_pod(world.pods()[0])
    await world.later(120)
    assert world.condition("Accepted") == ("Unknown", "SourceNotFound")
    assert "Passed" in outcomes(world)
    await world.cluster.create(CONFIG_MAPS, STARTER)
    await world.later(6)
    assert world.condition("Accepted") == ("True", "Resolved")


async def test_a_budget_that_was_used_up_stays_so_while_the_run_waits():
    world = await a_run(budget={"usd": 0.4})
    world.pass_pod(world.pods()[0])
    await world.later(2)
    assert world.condition("BudgetExceeded")[0] == "True"
    await back_without_results(world)
    assert world.condition("Accepted")[0] == "Unknown"
    assert world.condition("BudgetExceeded")[0] == "True"


async def test_what_a_stopped_attempt_cost_is_asked_for_without_the_plan():
    world = await a_run(agent={"type": "mini", "model": "claude-haiku-4-5"})
    uids = [trial["metadata"]["uid"] for trial in world.trials()]
    world.bills.known = {(uid, 1): Bill(calls=3, mode="Live") for uid in uids}
    await back_without_results(world)
    await edit(world, cancelled=True)
    assert [trial["status"]["modelCalls"] for trial in world.trials()] == [3, 3]


async def test_a_run_that_is_refused_half_way_says_what_its_last_verdicts_showed():
    world = await a_run(budget={"usd": 0.4})
    done, _ = world.pods()
    digest = world.run()["spec"]["tasksFrom"][0]["bundle"]["digest"]
    broken = packed(a_spec(tasks=[a_task("a", criteria=[{"type": "guessed"}])]).tasks).parts
    world.bundles.hold(NAMESPACE, digest, broken)
    world.restart()
    world.pass_pod(done)
    await world.later(6)
    assert world.condition("Complete") == ("True", "Rejected")
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert world.condition("BudgetExceeded")[0] == "True"


async def test_so_is_what_an_attempt_cost_that_a_refusal_cuts_short():
    world = await a_run(agent={"type": "mini", "model": "claude-haiku-4-5"})
    uids = [trial["metadata"]["uid"] for trial in world.trials()]
    world.bills.known = {(uid, 1): Bill(calls=3, mode="Live") for uid in uids}
    digest = world.run()["spec"]["tasksFrom"][0]["bundle"]["digest"]
    broken = packed(a_spec(tasks=[a_task("a", criteria=[{"type": "guessed"}])]).tasks).parts
    world.bundles.hold(NAMESPACE, digest, broken)
    world.restart()
    await world.later(6)
    assert world.condition("Complete") == ("True", "Rejected")
    assert [trial["status"]["modelCalls"] for trial in world.trials()] == [3, 3]


async def test_a_pod_that_nobody_can_compare_now_is_not_void():
    # While the gateway's Service was away, what the settings allow counted as somebody's change.
    world = World(trial={"allowChanges": ["container/istio-*"]})
    proxy = {"name": "istio-proxy", "image": "istio/proxy:1"}

    def inject(verb, kind, body):
        if (verb, kind.plural) == ("create", "pods"):
            body["spec"]["containers"].append(proxy)
            world.cluster.delete_now(("services", "proctor", "gateway"))
            world.at += LATER

    world.cluster.before_write = inject
    await world.apply(run_body())
    world.cluster.before_write = lambda verb, kind, body: None
    await world.later(2)
    assert outcomes(world) == [""]
    world.pass_pod(world.pods()[0])
    await world.later(2)
    assert outcomes(world) == [""]
    world.cluster.plant(SERVICES, json.loads(json.dumps(GATEWAY_SERVICE)))
    await world.later(10)
    assert outcomes(world) == ["Passed"]
    assert world.trials()[0]["status"]["podChanges"] == ["container/istio-proxy"]
