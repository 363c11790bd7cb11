"""Random worlds: whatever pods do and whenever the engine restarts, each trial counts once."""

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from builders import NOON, a_failure, an_attempt, an_ended_attempt, an_observed, seconds
from proctor.api.conditions import Reason
from proctor.api.outcome import FailureClass
from proctor.engine.decide import decide
from proctor.engine.model import AttemptPhase

ENDS = st.sampled_from(["verdict", *(failure_class.value for failure_class in FailureClass)])


def applied(observed, decision):
    """Pretend to carry a decision out; the engine keeps no state of its own."""
    recorded = dict(observed.recorded)
    for record in decision.record:
        assert record.trial not in recorded, "a trial is recorded once"
        recorded[record.trial] = record.status
    closed = {trial: list(history) for trial, history in observed.closed.items()}
    for close in decision.close:
        closed.setdefault(close.trial, []).append(close.attempt)
    stopped = {(stop.trial, stop.number) for stop in decision.stop}
    over = {(close.trial, close.attempt.number) for close in decision.close}
    attempts = [
        attempt
        for attempt in observed.attempts
        if (attempt.trial, attempt.number) not in stopped | over
        and not (attempt.phase is AttemptPhase.ENDED and attempt.trial in recorded)
    ]
    for start in decision.start:
        assert start.trial not in recorded
        assert not [a for a in attempts if a.trial == start.trial], "one attempt at a time"
        attempts.append(
            an_attempt(0, trial=start.trial, number=start.number, created_at=observed.now)
        )
    return replace(observed, recorded=recorded, closed=closed, attempts=attempts)


def ended(attempt, how):
    if how == "verdict":
        return an_ended_attempt(0, trial=attempt.trial, number=attempt.number)
    failure = a_failure(FailureClass(how))
    return an_ended_attempt(0, trial=attempt.trial, number=attempt.number, failure=failure)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), trials=st.integers(1, 6), parallelism=st.integers(1, 4))
def test_every_trial_is_recorded_once_whatever_its_attempts_do(data, trials, parallelism):
    world = an_observed(trials, parallelism=parallelism)
    for tick in range(200):
        world = replace(world, now=NOON + seconds(tick))
        decision = decide(world)
        world = applied(world, decision)
        assert sum(a.phase is not AttemptPhase.ENDED for a in world.attempts) <= parallelism
        again = decide(world)
        assert again.is_empty
        if decision.complete:
            break
        running = [a for a in world.attempts if a.phase is AttemptPhase.RUNNING]
        if running:
            victim = data.draw(st.sampled_from(running))
            others = [a for a in world.attempts if a is not victim]
            world = replace(world, attempts=[*others, ended(victim, data.draw(ENDS))])
    assert decision.complete is Reason.ALL_TRIALS_FINISHED
    assert set(world.recorded) == {trial.id for trial in world.desired}
