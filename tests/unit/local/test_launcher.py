"""The embedded launcher, one step of the event loop at a time."""

import asyncio

from builders import NOON
from builders_local import FakeGateway, FakePhases, a_planned_run
from proctor.engine.model import AttemptPhase, Start
from proctor.local.launcher import LocalLauncher, Trials
from proctor.local.places import RunPlaces


async def test_an_attempt_may_follow_as_soon_as_the_one_before_is_seen_to_have_ended(tmp_path):
    # The end was shown one turn of the loop before the attempt's task was over; what was started
    # in between was then forgotten, and would have been started a second time.
    run = a_planned_run()
    trial = run.desired()[0].id
    trials = Trials(run.name, RunPlaces(tmp_path), run.plan.cells, {trial: "uid"})
    phases = FakePhases()
    launcher = LocalLauncher(trials, phases, FakeGateway(), lambda: NOON, lambda: None)

    launcher.start(Start(trial, 1))
    for _ in range(1000):
        if launcher.attempts()[0].phase is AttemptPhase.ENDED:
            break
        await asyncio.sleep(0)
    launcher.forget(trial)
    phases.hanging = frozenset({"agent"})
    launcher.start(Start(trial, 2))
    for _ in range(5):
        await asyncio.sleep(0)

    (seen,) = launcher.attempts()
    assert (seen.number, seen.phase) == (2, AttemptPhase.RUNNING)
    await launcher.stopped()
    assert launcher.attempts() == ()
