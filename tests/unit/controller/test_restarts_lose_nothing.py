"""Pods that do anything, an operator that dies at any write: every trial is counted once."""

import asyncio
from collections import Counter

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from builders_controller import NAMESPACE, World, run_body
from builders_planning import a_spec
from proctor.api.outcome import Outcome

TRIALS = 4

BEHAVIOURS = ("pass", "fail", "crash", "oom", "evict", "mute", "deleted")


class DiedError(Exception):
    """The operator's process was killed in the middle of a pass."""


actions = st.one_of(
    st.tuples(st.just("pods"), st.sampled_from(BEHAVIOURS), st.integers(0, TRIALS)),
    st.tuples(st.just("start"), st.integers(0, TRIALS)),
    st.tuples(st.just("restart")),
    st.tuples(st.just("die"), st.integers(0, 12)),
    st.tuples(st.just("time"), st.integers(1, 90)),
)


sometimes_alone = st.one_of(actions, st.just(("results", None)), st.just(("results", "away")))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(actions, max_size=25))
def test_every_trial_is_recorded_once_whatever_happens(history):
    asyncio.run(play(World(), run_body(repeats=TRIALS, parallelism=2), history))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(sometimes_alone, max_size=25))
def test_every_trial_is_recorded_once_while_the_results_server_comes_and_goes(history):
    asyncio.run(play_bundle(history))


async def play_bundle(history):
    world = World()
    digest = await world.bundles.push(NAMESPACE, a_spec().tasks)
    sources = [{"bundle": {"digest": digest}}]
    body = run_body(repeats=TRIALS, parallelism=2, tasksFrom=sources)
    del body["spec"]["tasks"]
    await play(world, body, history)


async def play(world, body, history):
    ended, made = Counter(), Counter()
    world.cluster.watch(lambda event, plural, body: note(ended, made, event, plural, body))
    await world.apply(body)
    for action in history:
        await act(world, action)
    world.bundles.failure = None
    await finish(world)
    world.restart()
    world.cluster.writes.clear()
    await world.later(2)
    assert world.cluster.writes == [], "there was something left to do"
    assert_counted_once(world, ended, made)


def note(ended, made, event, plural, body):
    name = body["metadata"]["name"]
    if plural == "pods" and event == "ADDED":
        made[name] += 1
    outcome = body.get("status", {}).get("outcome")
    if plural == "evaltrials" and outcome and event != "DELETED":
        ended[name] += 1


async def act(world, action):
    match action:
        case "pods", behaviour, which:
            behave(world, behaviour, which)
        case "start", which:
            for pod in chosen(world, which):
                world.kubelet.run_agent(pod["metadata"]["name"])
        case "results", failure:
            world.bundles.failure = failure
        case ("restart",):
            world.restart()
        case "die", writes:
            await die_after(world, writes)
            return
        case "time", seconds:
            await world.later(seconds)
    await world.settle()


async def die_after(world, writes):
    left = iter(range(writes))

    def dying(verb, kind, body):
        if next(left, None) is None:
            raise DiedError

    world.cluster.before_write = dying
    try:
        await world.settle()
    except DiedError:
        pass
    finally:
        world.cluster.before_write = lambda verb, kind, body: None
        world.restart()


def chosen(world, which):
    """A living pod, or none when there are fewer."""
    alive = [pod for pod in world.pods() if not is_over(pod)]
    return alive[which : which + 1]


def is_over(pod):
    return (
        pod.get("status", {}).get("phase") in ("Succeeded", "Failed")
        or "deletionTimestamp" in pod["metadata"]
    )


def behave(world, behaviour, which):
    for pod in chosen(world, which):
        name, kubelet = pod["metadata"]["name"], world.kubelet
        match behaviour:
            case "pass":
                world.pass_pod(pod)
            case "fail":
                world.pass_pod(pod, score="0", outcome=Outcome.FAILED)
            case "crash":
                kubelet.end_agent(name, 1)
            case "oom":
                kubelet.end_agent(name, 137, "OOMKilled")
            case "evict":
                kubelet.disrupt(name)
            case "mute":
                kubelet.grade(name, "", exit_code=1)
            case "deleted":
                world.cluster.delete_now(("pods", pod["metadata"]["namespace"], name))


async def finish(world):
    """Everything that still lives passes."""
    for _ in range(TRIALS * 8):
        for pod in world.pods():
            if "deletionTimestamp" in pod["metadata"] and "verdict" in str(pod["metadata"]):
                world.kubelet.status(pod["metadata"]["name"], {"phase": "Failed"})
            elif not is_over(pod):
                world.pass_pod(pod)
        await world.later(2)
        if world.run()["status"]["state"] == "Complete":
            await world.later(5)
            return
    raise AssertionError(f"the run never ended: {world.run()['status']}")


def assert_counted_once(world, ended, made):
    status = world.run()["status"]
    counts = status["trials"]
    assert counts["total"] == TRIALS
    assert counts["passed"] + counts["failed"] + counts["errored"] == TRIALS
    assert list(ended.values()) == [1] * TRIALS, f"a status was written twice: {ended}"
    assert world.condition("Complete") == ("True", "AllTrialsFinished")
    assert all("finalizers" not in pod["metadata"] for pod in world.pods())
    assert max(made.values()) == 1, f"an attempt ran twice: {made}"
