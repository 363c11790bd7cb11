"""What users do to a run while it goes, and what befalls its objects."""

from datetime import timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from builders_controller import KEY, MINI, World, run_body
from fakes.kubelet import ended
from proctor.api.outcome import Outcome
from proctor.api.usage import Bill
from proctor.controller.cluster import CONFIG_MAPS, EVAL_RUNS, EVAL_TRIALS, PODS


async def a_running_world(*, changes=None, **spec):
    world = World(**(changes or {}))
    await world.apply(run_body(**spec))
    for pod in world.pods():
        world.kubelet.run_agent(pod["metadata"]["name"])
    await world.later(1)
    return world


def edit(world, **spec):
    world.cluster.change(EVAL_RUNS, KEY.namespace, KEY.name, {"spec": spec})


def end_deleted(world):
    """What kubelets do with pods that are being deleted."""
    for pod in world.pods():
        if "deletionTimestamp" in pod["metadata"]:
            world.kubelet.status(pod["metadata"]["name"], {"phase": "Failed"})


async def test_parallelism_is_kept():
    world = await a_running_world(repeats=7, parallelism=3)
    assert len(world.pods()) == 3
    world.pass_pod(world.pods()[0])
    await world.later(1)
    assert len(world.pods()) == 3
    assert len(world.trials()) == 4


async def test_parallelism_can_be_raised_while_the_run_goes():
    world = await a_running_world(repeats=5, parallelism=1)
    edit(world, parallelism=4)
    await world.later(1)
    assert len(world.pods()) == 4


async def test_suspend_stops_pods_and_going_on_uses_up_no_retry():
    world = await a_running_world(failurePolicy={"infraRetries": 0})
    edit(world, suspend=True)
    await world.later(1)
    assert all("deletionTimestamp" in pod["metadata"] for pod in world.pods())
    end_deleted(world)
    await world.later(2)
    assert world.pods() == []
    assert world.condition("Progressing") == ("False", "Suspended")
    edit(world, suspend=False)
    await world.later(2)
    (pod,) = world.pods()
    assert pod["metadata"]["name"].endswith("-2")
    world.pass_pod(pod)
    await world.later(2)
    assert world.run()["status"]["trials"]["passed"] == 1


async def test_cancelling_ends_the_run_and_keeps_what_was_measured():
    world = await a_running_world(repeats=4, parallelism=2)
    world.pass_pod(world.pods()[0])
    edit(world, cancelled=True)
    await world.later(2)
    end_deleted(world)
    await world.later(2)
    counts = world.run()["status"]["trials"]
    assert (counts["passed"], counts["cancelled"]) == (1, 3)
    assert world.condition("Complete") == ("True", "Cancelled")
    assert world.pods() == []


async def test_a_run_beyond_its_deadline_ends():
    world = await a_running_world(activeDeadlineSeconds=60)
    await world.later(61)
    assert world.condition("Complete") == ("True", "DeadlineExceeded")


async def test_a_finished_run_is_deleted_when_its_time_is_over():
    world = await a_running_world(ttlSecondsAfterFinished=100)
    world.pass_pod(world.pods()[0])
    await world.later(2)
    await world.later(90)
    assert world.cluster.bodies(EVAL_RUNS)
    await world.later(20)
    assert world.cluster.bodies(EVAL_RUNS) == []
    assert world.cluster.bodies(EVAL_TRIALS) == []
    assert world.cluster.bodies(CONFIG_MAPS) == []


async def test_deleting_a_run_leaves_no_pod_terminating():
    world = await a_running_world(repeats=3)
    world.cluster.delete_now(("evalruns", KEY.namespace, KEY.name))
    await world.later(1)
    assert world.pods() == []


async def test_a_deletion_that_the_watch_of_runs_lost_is_found_out():
    world = await a_running_world()
    world.operator.hear = lambda: None
    world.cluster.delete_now(("evalruns", KEY.namespace, KEY.name))
    events = world.operator._events
    events[:] = [event for event in events if event[1] != "evalruns"]
    del world.operator.hear
    await world.later(1)
    assert world.pods() == []


@pytest.mark.parametrize(
    ("policy", "kept"),
    [
        pytest.param("Keep", 2, id="keep"),
        pytest.param("KeepFailed", 1, id="keep-failed"),
        pytest.param("Delete", 0, id="delete"),
    ],
)
async def test_finished_pods_stay_as_the_settings_say(policy, kept):
    world = await a_running_world(changes={"trial": {"finishedPods": policy}}, repeats=2)
    passing, failing = world.pods()
    world.pass_pod(passing)
    world.pass_pod(failing, score="0", outcome=Outcome.FAILED)
    await world.later(2)
    assert len(world.pods()) == kept
    assert all("finalizers" not in pod["metadata"] for pod in world.pods())


async def test_a_pod_that_will_never_end_by_itself_is_not_kept():
    world = await a_running_world()
    (pod,) = world.pods()
    oom = {
        "phase": "Pending",
        "conditions": [{"type": "PodReadyToStartContainers", "status": "False"}],
        "initContainerStatuses": [ended("stage", 0), ended("agent", 0, "OOMKilled")],
    }
    world.kubelet.status(pod["metadata"]["name"], oom)
    await world.later(2)
    assert world.trials()[0]["status"]["outcome"] == "AgentError"
    assert world.pods() == []


async def test_a_status_is_written_at_most_once_a_second():
    world = await a_running_world(repeats=20, parallelism=20)
    written = []

    def note(verb, kind, body):
        if kind is EVAL_RUNS:
            written.append(world.at)

    world.cluster.before_write = note
    for pod in world.pods():
        world.pass_pod(pod)
        await world.later(0.05)
    await world.later(2)
    gaps = [after - before for before, after in pairwise(written)]
    assert min(gaps) >= timedelta(seconds=1)
    assert world.run()["status"]["trials"]["passed"] == 20


async def test_a_lost_attempt_is_run_again_and_its_cost_is_counted():
    world = await a_running_world(agent=MINI)
    (trial,) = world.trials()
    lost = Bill(calls=3, cost_usd=Decimal("0.25"))
    world.bills.known[trial["metadata"]["uid"], 1] = lost
    world.kubelet.disrupt(world.pods()[0]["metadata"]["name"])
    await world.later(2)
    (again,) = [pod for pod in world.pods() if pod["metadata"]["name"].endswith("-2")]
    (trial,) = world.trials()
    assert trial["spec"]["attempt"] == 2
    world.pass_pod(again)
    await world.later(2)
    status = world.run()["status"]
    assert (status["costUsd"], status["costComplete"]) == ("0.75", True)


async def test_a_lost_attempt_without_a_bill_leaves_the_cost_a_floor():
    world = await a_running_world(agent=MINI)
    world.kubelet.disrupt(world.pods()[0]["metadata"]["name"])
    await world.later(2)
    world.pass_pod(next(pod for pod in world.pods() if pod["metadata"]["name"].endswith("-2")))
    await world.later(2)
    status = world.run()["status"]
    assert (status["costUsd"], status["costComplete"]) == ("0.5", False)


@pytest.mark.parametrize(
    ("change", "costs"),
    [
        pytest.param({"cancelled": True}, ("0.25", False), id="cancelled"),
        pytest.param({"suspend": True}, (None, True), id="suspended"),
    ],
)
async def test_what_a_stopped_attempt_has_spent_is_asked_for_and_is_a_floor(change, costs):
    world = await a_running_world(agent=MINI)
    (trial,) = world.trials()
    world.bills.known[trial["metadata"]["uid"], 1] = Bill(calls=3, cost_usd=Decimal("0.25"))
    edit(world, **change)
    await world.later(2)
    (trial,) = world.trials()
    (line,) = trial["status"]["attempts"]
    assert (line["costUsd"], line["costComplete"]) == ("0.25", False)
    status = world.run()["status"]
    assert (status.get("costUsd"), status["costComplete"]) == costs


async def test_a_pod_that_vanishes_is_an_infra_failure():
    world = await a_running_world()
    world.cluster.remove_pod(world.pods()[0])
    await world.later(2)
    (trial,) = world.trials()
    assert [line["reason"] for line in trial["status"]["attempts"]] == ["PodVanished"]
    assert [pod["metadata"]["name"][-2:] for pod in world.pods()] == ["-2"]


async def test_a_verdict_from_a_pod_that_was_changed_is_worth_nothing():
    world = World()
    await world.apply(run_body())
    (pod,) = world.pods()
    name = pod["metadata"]["name"]
    spec = pod["spec"]
    spec["containers"][0]["image"] = "evil/grade:1"
    world.cluster.change_pod(name, {"spec": spec})
    world.pass_pod(pod)
    await world.later(2)
    (trial,) = world.trials()
    assert trial["status"]["outcome"] == "InfraFailed"
    assert "score" not in trial["status"]
    assert trial["status"]["reason"].startswith("PodChanged")


async def test_an_injected_container_is_named():
    world = World()
    await world.apply(run_body())
    (pod,) = world.pods()
    spec = pod["spec"]
    spec["containers"].append({"name": "mesh-proxy", "image": "mesh"})
    world.cluster.change_pod(pod["metadata"]["name"], {"spec": spec})
    state = {"name": "mesh-proxy", "state": {"running": {"startedAt": "2026-03-01T12:00:01Z"}}}
    world.kubelet.status(pod["metadata"]["name"], {"containerStatuses": [state]})
    await world.later(2)
    assert "container/mesh-proxy: added" in world.trials()[0]["status"]["reason"]


async def test_somebody_elses_pod_with_the_name_of_ours_gives_no_verdict():
    world = World()
    names = []

    def note_trial(verb, kind, body):
        if (verb, kind.plural) == ("create", "pods") and not names:
            names.append(body["metadata"]["name"])
            squatter = {
                "metadata": {**body["metadata"], "ownerReferences": []},
                "spec": body["spec"],
            }
            world.cluster.plant(PODS, squatter)

    world.cluster.before_write = note_trial
    await world.apply(run_body())
    await world.later(2)
    assert world.condition("Progressing") == ("False", "AdmissionDenied")
    assert "is not what Proctor makes" in str(world.run()["status"]["conditions"])


async def test_a_spec_that_cannot_be_used_is_rejected_with_field_and_remedy():
    world = World()
    tasks = [{"name": "t", "prompt": "x", "criteria": [{"type": "file_exits", "path": "a"}]}]
    await world.apply(run_body(tasks=tasks))
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert world.condition("Complete") == ("True", "Rejected")
    message = str(world.run()["status"]["conditions"])
    assert "spec.tasks[0].criteria[0]" in message
    assert "file_exists" in message
    assert world.trials() == []


async def test_a_price_of_the_gateway_allows_a_limit_in_money():
    # The operator knew only the prices that come with Proctor, and refused what the gateway prices.
    run = run_body(agent={**MINI, "model": "our-own"}, limits={"maxUsd": 1})
    refused, accepted = World(), World(pricedModels=["our-own"])
    for world in (refused, accepted):
        await world.apply(run)
    assert refused.condition("Accepted")[0] == "False"
    assert accepted.condition("Accepted")[0] == "True"


async def test_a_rejected_run_stays_rejected_after_a_restart():
    world = World()
    await world.apply(run_body(tasks=[{"name": "t", "prompt": "x", "criteria": []}]))
    world.restart()
    world.cluster.writes.clear()
    await world.later(5)
    assert world.cluster.writes == []


async def test_an_inline_script_becomes_an_immutable_config_map_that_the_trial_names():
    script = "rules: [{answer: {text: hi}}]"
    world = World()
    await world.apply(
        run_body(agent=MINI, models={"mode": "Scripted", "script": {"inline": script}})
    )
    models = world.trials()[0]["spec"]["models"]
    (found,) = [
        body
        for body in world.cluster.bodies(CONFIG_MAPS)
        if body["metadata"]["name"] == models["scriptConfigMap"]
    ]
    assert found["immutable"] is True
    assert found["data"] == {models["scriptKey"]: script}
    assert models["mode"] == "Scripted"


async def test_a_script_in_a_config_map_is_named_as_it_is():
    place = {"configMap": {"name": "answers", "key": "a.yaml"}}
    world = World()
    await world.apply(run_body(agent=MINI, models={"mode": "Scripted", "script": place}))
    models = world.trials()[0]["spec"]["models"]
    assert models == {"mode": "Scripted", "scriptConfigMap": "answers", "scriptKey": "a.yaml"}


@pytest.mark.parametrize(
    ("mode", "cassette", "named"),
    [
        pytest.param(
            "Replay",
            {"configMap": {"name": "calls"}},
            {"cassetteConfigMap": "calls", "cassetteKey": "cassette.yaml"},
            id="config map",
        ),
        pytest.param(
            "Record", {"volume": {"path": "a/b.yaml"}}, {"cassettePath": "a/b.yaml"}, id="volume"
        ),
    ],
)
async def test_an_evaltrial_names_the_cassette(mode, cassette, named):
    world = World()
    await world.apply(run_body(agent=MINI, models={"mode": mode, "cassette": cassette}))
    assert world.trials()[0]["spec"]["models"] == {"mode": mode, **named}


@pytest.mark.parametrize(
    ("models", "remedy"),
    [
        pytest.param(
            {"mode": "Replay", "cassette": {"file": "c.yaml"}},
            "put it into a ConfigMap (configMap), or onto the gateway's volume (volume)",
            id="a file of somebody's machine",
        ),
        pytest.param({"mode": "Record"}, "give cassette.volume.path", id="nowhere"),
    ],
)
async def test_a_cassette_that_a_cluster_cannot_reach_is_refused(models, remedy):
    world = World()
    await world.apply(run_body(agent=MINI, models=models))
    assert world.condition("Accepted") == ("False", "SpecInvalid")
    assert remedy in str(world.run()["status"]["conditions"])
    assert world.trials() == []


async def test_an_evaltrial_tells_the_gateway_its_limits():
    world = World()
    await world.apply(run_body(agent=MINI, limits={"maxModelCalls": 7, "maxUsd": 1.5}))
    spec = world.trials()[0]["spec"]
    assert spec["limits"] == {"maxModelCalls": 7, "maxUsd": "1.5"}
    assert (spec["agent"], spec["model"], spec["attempt"]) == ("mini", "claude-haiku-4-5", 1)


async def test_a_run_of_the_same_name_meets_nothing_of_the_one_before():
    world = await a_running_world()
    first = {trial["metadata"]["name"] for trial in world.trials()}
    world.cluster.delete_now(("evalruns", KEY.namespace, KEY.name))
    await world.cluster.create(EVAL_RUNS, run_body())
    await world.later(1)
    second = {trial["metadata"]["name"] for trial in world.trials()}
    assert len(second) == 1
    assert not first & second


async def test_an_upgrade_of_the_operator_disowns_no_running_pod():
    world = await a_running_world()
    world.settings = world.settings.model_copy(update={"runner_image": "proctor/runner:2"})
    world.restart()
    await world.later(1)
    world.pass_pod(world.pods()[0])
    await world.later(2)
    assert world.run()["status"]["trials"]["passed"] == 1


async def test_a_run_that_is_refused_half_way_keeps_its_figures_and_holds_no_pod():
    # The pods stayed for ever, finalizer and all, and the status forgot what had been reached.
    world = await a_running_world(agent=MINI, repeats=2)
    done, going = world.pods()
    world.pass_pod(done)
    await world.later(2)
    edit(world, agent={"type": "of-a-plugin-that-is-gone"})
    await world.later(2)
    status = world.run()["status"]
    assert world.condition("Complete") == ("True", "Rejected")
    assert (status["trials"]["passed"], status["costUsd"]) == (1, "0.5")
    end_deleted(world)
    await world.later(2)
    names = [pod["metadata"]["name"] for pod in world.pods()]
    assert going["metadata"]["name"] not in names
