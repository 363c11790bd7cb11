"""The conditions of a run: what is claimed now, merged with when it last changed (pure)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Literal

from proctor.api.conditions import Condition, ConditionType, Reason
from proctor.api.errors import Problem
from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.text import cut
from proctor.engine.budget import is_used_up, spent_usd
from proctor.engine.instants import rfc3339
from proctor.engine.model import Decision, Observed
from proctor.engine.network import network_claim
from proctor.engine.provider_faults import provider_failures
from proctor.engine.storage import storage_of
from proctor.scoring.gate import GateVerdict

_MESSAGE_LENGTH = 8000
_REJECTED = "the spec cannot be used: see Accepted"


@dataclass(frozen=True, slots=True)
class Claim:
    """A condition without its times."""

    type: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: Reason
    message: str = ""


def run_claims(
    observed: Observed,
    decision: Decision,
    gate: GateVerdict | None,
    before: Sequence[Condition] = (),
) -> tuple[Claim, ...]:
    """Conditions of a run that was accepted; ``before`` are those that it has."""
    accepted = Claim(ConditionType.ACCEPTED, "True", Reason.RESOLVED, "all of it could be resolved")
    if decision.complete:
        ended = Claim(ConditionType.COMPLETE, "True", decision.complete, _END[decision.complete])
        message = provider_failures(_ended(observed, decision))
        stopped = Claim(ConditionType.PROGRESSING, "False", decision.complete, message)
        claims: tuple[Claim, ...] = (accepted, stopped, ended)
    else:
        going = Claim(ConditionType.COMPLETE, "False", Reason.IN_PROGRESS)
        claims = (accepted, _progress(observed, decision), going)
    more = (_budget(observed, before), _network(observed, before), _stored(observed, decision))
    claims = (*claims, *chain.from_iterable(more))
    if gate is None:
        return claims
    status: Literal["True", "False"] = "True" if gate.passed else "False"
    return (*claims, Claim(ConditionType.GATE_PASSED, status, gate.reason, gate.message))


def awaiting_claims(message: str, reason: Reason) -> tuple[Claim, ...]:
    """Conditions of a run that names what cannot be had yet."""
    return (
        Claim(ConditionType.ACCEPTED, "Unknown", reason, message),
        Claim(ConditionType.PROGRESSING, "False", reason, message),
        Claim(ConditionType.COMPLETE, "False", Reason.IN_PROGRESS),
    )


def rejected_claims(problems: Sequence[Problem]) -> tuple[Claim, ...]:
    """Conditions of a run that cannot start."""
    message = "\n".join(str(problem) for problem in problems)
    return (
        Claim(ConditionType.ACCEPTED, "False", Reason.SPEC_INVALID, message),
        Claim(ConditionType.PROGRESSING, "False", Reason.REJECTED),
        Claim(ConditionType.COMPLETE, "True", Reason.REJECTED, _REJECTED),
    )


def budget_is_used_up(conditions: Sequence[Condition]) -> bool:
    """Whether a status says that the run's budget is used up."""
    return any(
        one.type == ConditionType.BUDGET_EXCEEDED and one.status == "True" for one in conditions
    )


def merged(
    before: Sequence[Condition], claims: Sequence[Claim], generation: int, now: datetime
) -> tuple[Condition, ...]:
    """Claims with times: an unchanged status keeps the time of its last transition."""
    known = {condition.type: condition for condition in before}
    return tuple(_condition(known.get(claim.type), claim, generation, now) for claim in claims)


def merged_into(
    before: Sequence[Condition], claims: Sequence[Claim], generation: int, now: datetime
) -> tuple[Condition, ...]:
    """The same, and what nobody claims anew stays: it was found out and is still so."""
    claimed = {claim.type for claim in claims}
    kept = (condition for condition in before if condition.type not in claimed)
    return (*merged(before, claims, generation, now), *kept)


def _condition(before: Condition | None, claim: Claim, generation: int, now: datetime) -> Condition:
    unchanged = before is not None and before.status == claim.status
    since = before.last_transition_time if before and unchanged else rfc3339(now)
    return Condition(
        type=claim.type.value,
        status=claim.status,
        reason=claim.reason.value,
        message=cut(claim.message, _MESSAGE_LENGTH),
        last_transition_time=since,
        observed_generation=generation,
    )


def _progress(observed: Observed, decision: Decision) -> Claim:
    failed = provider_failures(_ended(observed, decision))
    if observed.suspend:
        message = "spec.suspend is true; set it to false to go on"
        return Claim(ConditionType.PROGRESSING, "False", Reason.SUSPENDED, message)
    if decision.waiting and not decision.running:
        waiting = decision.waiting
        return Claim(ConditionType.PROGRESSING, "False", waiting.reason, waiting.message)
    if decision.running:
        waits = decision.waiting.message if decision.waiting else ""
        message = "; ".join(part for part in (waits, failed) if part)
        return Claim(ConditionType.PROGRESSING, "True", Reason.TRIALS_RUNNING, message)
    return Claim(ConditionType.PROGRESSING, "True", Reason.TRIALS_PENDING, failed)


def _ended(observed: Observed, decision: Decision) -> Iterable[EvalTrialStatus]:
    return (*observed.recorded.values(), *(record.status for record in decision.record))


def _budget(observed: Observed, before: Sequence[Condition]) -> Iterator[Claim]:
    """A budget that was used up stays so, and never with less than was known to be spent."""
    if observed.budget_usd is None or not is_used_up(observed):
        return
    spent = spent_usd(observed)
    message = f"{spent:f} of {observed.budget_usd:f} US dollars are spent"
    known = next((one for one in before if one.type == ConditionType.BUDGET_EXCEEDED), None)
    if known is not None and spent < observed.budget_usd:
        message = known.message
    yield Claim(ConditionType.BUDGET_EXCEEDED, "True", Reason.BUDGET_USED_UP, message)


def _network(observed: Observed, before: Sequence[Condition]) -> Iterator[Claim]:
    claim = network_claim(observed.network, before)
    if claim is not None:
        status: Literal["True", "False"] = "True" if claim.enforced else "False"
        yield Claim(ConditionType.NETWORK_ENFORCED, status, claim.reason, claim.message)


def _stored(observed: Observed, decision: Decision) -> Iterator[Claim]:
    """A record that was not taken is told at once, that all were taken at the end."""
    ended = {**observed.recorded, **{one.trial: one.status for one in decision.record}}
    storage = storage_of(ended)
    if storage.missing:
        reason, message = Reason.RECORDS_MISSING, storage.message
        yield Claim(ConditionType.RESULTS_STORED, "False", reason, message)
    elif storage.is_used and decision.complete:
        yield Claim(ConditionType.RESULTS_STORED, "True", Reason.ALL_STORED, storage.message)


_END = {
    Reason.ALL_TRIALS_FINISHED: "every trial has ended",
    Reason.CANCELLED: "spec.cancelled is true",
    Reason.DEADLINE_EXCEEDED: "spec.activeDeadlineSeconds was reached",
    Reason.REJECTED: _REJECTED,
}
