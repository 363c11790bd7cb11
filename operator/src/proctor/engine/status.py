"""The status of a run: all counts and conditions, computed in one place (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from proctor.api.conditions import Reason
from proctor.api.errors import Problem
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.outcome import Outcome
from proctor.api.run_status import (
    EvalRunStatus,
    FailingTrial,
    Spending,
    TokenCounts,
    TrialCounts,
    VariantStatus,
)
from proctor.api.secret_refs import SecretUse
from proctor.engine.conditions import (
    awaiting_claims,
    merged,
    merged_into,
    rejected_claims,
    run_claims,
)
from proctor.engine.instants import rfc3339
from proctor.engine.model import Decision, DesiredTrial, Observed, TrialId
from proctor.scoring.gate import gate_verdict
from proctor.scoring.run import Aggregate, TrialSummary, aggregate

MAX_FAILING = 20


def run_status(
    observed: Observed,
    decision: Decision,
    *,
    generation: int,
    previous: EvalRunStatus | None = None,
    seed: str = "",
    secrets: Sequence[SecretUse] = (),
    sources_digest: str = "",
) -> EvalRunStatus:
    """What to say of the run once ``decision`` has been carried out."""
    ended = {**observed.recorded, **{record.trial: record.status for record in decision.record}}
    reached = aggregate([_summary(status) for status in ended.values()], observed.total)
    gate = None
    if decision.complete and observed.gate and not observed.refused:
        gate = gate_verdict(observed.gate, reached)
    before = previous or EvalRunStatus()
    known = replace(observed, recorded=ended)
    claims = run_claims(known, replace(decision, record=()), gate, before.conditions)
    return EvalRunStatus(
        observed_generation=generation,
        conditions=merged(before.conditions, claims, generation, observed.now),
        state=_state(observed, decision),
        agent=_same([trial.agent for trial in observed.desired]),
        user=_same([trial.user.value for trial in observed.desired]),
        seed=seed or before.seed,
        secrets=tuple(secrets),
        sources_digest=sources_digest or before.sources_digest,
        trials=_counts(observed, decision, ended),
        spending=None if decision.complete else _spending(observed, before),
        variants=_variants(observed, ended),
        failing=_failing(observed.desired, ended),
        gate=None if gate is None else ("Passed" if gate.passed else "Failed"),
        start_time=before.start_time or rfc3339(observed.start_time or observed.now),
        completion_time=_completion(before, decision, observed.now),
        **_figures(reached, bool(ended)),
    )


def remaining_status(
    observed: Observed, decision: Decision, *, generation: int, previous: EvalRunStatus
) -> EvalRunStatus:
    """What to say of a run whose plan is out of reach: what the plan told stays as it was told."""
    status = run_status(
        observed, decision, generation=generation, previous=previous, secrets=previous.secrets
    )
    reached = {variant.name: variant for variant in status.variants}
    return status.model_copy(
        update={
            "agent": previous.agent,
            "user": previous.user,
            "variants": tuple(
                reached.get(told.name, told).model_copy(
                    update={"agent": told.agent, "model": told.model}
                )
                for told in previous.variants
            ),
        }
    )


def awaiting_status(
    message: str,
    reason: Reason = Reason.SOURCE_NOT_FOUND,
    *,
    generation: int,
    now: datetime,
    previous: EvalRunStatus,
) -> EvalRunStatus:
    """The run waits for something that it names, and nothing of it starts."""
    claims = awaiting_claims(message, reason)
    return previous.model_copy(
        update={
            "observed_generation": generation,
            "conditions": merged_into(previous.conditions, claims, generation, now),
            "state": "Pending",
        }
    )


def rejected_status(
    problems: Sequence[Problem],
    *,
    generation: int,
    now: datetime,
    previous: EvalRunStatus | None = None,
) -> EvalRunStatus:
    """The run cannot go on: every problem with field and remedy, and it is complete.

    What it had reached stays: an upgrade may refuse what an earlier version had accepted.
    """
    before = previous or EvalRunStatus()
    return before.model_copy(
        update={
            "observed_generation": generation,
            "conditions": merged_into(
                before.conditions, rejected_claims(problems), generation, now
            ),
            "state": Reason.REJECTED.value,
            "completion_time": before.completion_time or rfc3339(now),
        }
    )


def _figures(reached: Aggregate, any_ended: bool) -> dict[str, object]:
    """Nothing has ended: nothing was measured, so all of it is null."""
    return {
        "score": reached.score,
        "pass_ratio": reached.pass_ratio,
        "completion_ratio": reached.completion_ratio,
        "cost_usd": reached.cost_usd if any_ended else None,
        "scripted_cost_usd": reached.scripted_cost_usd,
        "cost_complete": reached.cost_complete,
        "tokens": TokenCounts.of(reached.usage),
    }


def _spending(observed: Observed, before: EvalRunStatus) -> Spending | None:
    """What the gateway says; the last that it said when it is not known now."""
    if observed.spending is None:
        return before.spending
    so_far = observed.spending
    scripted = so_far.scripted_cost_usd
    return Spending(
        model_calls=so_far.calls,
        tokens=TokenCounts.of(so_far.usage),
        cost_usd=so_far.cost_usd,
        scripted_cost_usd=scripted if scripted else None,
    )


def _counts(
    observed: Observed, decision: Decision, ended: Mapping[TrialId, EvalTrialStatus]
) -> TrialCounts:
    outcomes = [Outcome(status.outcome) for status in ended.values() if status.outcome]
    passed = outcomes.count(Outcome.PASSED)
    cancelled, rest = outcomes.count(Outcome.CANCELLED), sum(observed.rest.values())
    never_started = rest if decision.complete else 0
    errored = sum(outcome in _ERRORS for outcome in outcomes)
    return TrialCounts(
        total=observed.total,
        pending=observed.total - len(ended) - decision.running - never_started,
        running=decision.running,
        passed=passed,
        failed=len(outcomes) - passed - cancelled - errored,
        errored=errored,
        cancelled=cancelled + never_started,
    )


_ERRORS = frozenset({Outcome.INFRA_FAILED, Outcome.GRADER_ERROR, Outcome.NOT_GRADED})


def _variants(
    observed: Observed, ended: Mapping[TrialId, EvalTrialStatus]
) -> tuple[VariantStatus, ...]:
    by_name: dict[str, list[DesiredTrial]] = {}
    for trial in observed.desired:
        by_name.setdefault(trial.id.variant, []).append(trial)
    return tuple(
        _variant(name, trials, len(trials) + observed.rest.get(name, 0), ended)
        for name, trials in by_name.items()
    )


def _variant(
    name: str,
    trials: Sequence[DesiredTrial],
    total: int,
    ended: Mapping[TrialId, EvalTrialStatus],
) -> VariantStatus:
    statuses = [ended[trial.id] for trial in trials if trial.id in ended]
    reached = aggregate([_summary(status) for status in statuses], total)
    return VariantStatus(
        name=name,
        agent=_same([trial.agent for trial in trials]),
        model=_same([trial.model or "" for trial in trials]) or None,
        total=reached.total,
        scored=reached.scored,
        passed=reached.passed,
        score=reached.score,
        pass_ratio=reached.pass_ratio,
        cost_usd=reached.cost_usd,
        scripted_cost_usd=reached.scripted_cost_usd,
        cost_complete=reached.cost_complete,
        tokens=TokenCounts.of(reached.usage),
    )


def _failing(
    desired: Sequence[DesiredTrial], ended: Mapping[TrialId, EvalTrialStatus]
) -> tuple[FailingTrial, ...]:
    failing = [
        FailingTrial(
            task=trial.id.task,
            variant=trial.id.variant,
            repeat=trial.id.repeat,
            outcome=ended[trial.id].outcome or "",
            reason=ended[trial.id].reason,
        )
        for trial in desired
        if trial.id in ended and ended[trial.id].outcome != Outcome.PASSED
    ]
    return tuple(failing[:MAX_FAILING])


def _summary(status: EvalTrialStatus) -> TrialSummary:
    return TrialSummary(
        outcome=Outcome(status.outcome or Outcome.NOT_GRADED),
        score=status.score,
        cost_usd=status.cost_usd,
        scripted_cost_usd=status.scripted_cost_usd,
        cost_complete=status.cost_complete,
        usage=status.tokens.usage(),
    )


def _state(observed: Observed, decision: Decision) -> str:
    if decision.complete is Reason.ALL_TRIALS_FINISHED:
        return "Complete"
    if decision.complete:
        return decision.complete.value
    if observed.suspend:
        return Reason.SUSPENDED.value
    return "Running" if decision.running else "Pending"


def _completion(before: EvalRunStatus, decision: Decision, now: datetime) -> str | None:
    if decision.complete is None:
        return None
    return before.completion_time or rfc3339(now)


def _same(values: Sequence[str]) -> str:
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else ("mixed" if distinct else "")
