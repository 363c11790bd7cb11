"""Verdicts of criteria and facts of execution → the outcome and score of one trial (pure)."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from proctor.api.outcome import UNSCORED_OUTCOMES, FailureClass, Outcome
from proctor.api.ratio import cut, exact
from proctor.api.report import AgentStatus
from proctor.api.usage import RUN_BUDGET, Bill
from proctor.api.verdict import Scored, Unscored, Verdict

_CRASHES = frozenset({"crashed", "interrupted"})
_CUT_SHORT = _CRASHES | {"timeout"}


@dataclass(frozen=True, slots=True)
class CriterionResult:
    """One criterion's verdict, with what weighs it.

    Args:
        weight: ≥ 0; 0 informs and counts nowhere.
        pass_threshold: In [0, 1].
        seconds: Time that judging took; its commands not counted.
    """

    type: str
    name: str
    weight: float
    pass_threshold: float
    verdict: Verdict
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether it was checked and reached its threshold."""
        if not isinstance(self.verdict, Scored):
            return False
        return exact(self.verdict.score) >= exact(self.pass_threshold)

    @property
    def explanation(self) -> str:
        """What the verdict says, for people."""
        if isinstance(self.verdict, Unscored):
            return self.verdict.reason
        return self.verdict.explanation


@dataclass(frozen=True, slots=True)
class TrialFacts:
    """What happened to the agent.

    Args:
        agent: How its part ended; ``not_run`` for agent type none.
        reason: Why, when it did not complete.
        bill: What the gateway counted; its ``refused`` says which budget ended.
    """

    agent: AgentStatus
    reason: str
    bill: Bill


@dataclass(frozen=True, slots=True)
class TrialScore:
    """The trial's outcome.

    Args:
        score: In [0, 1], cut to six digits; None exactly when the outcome has no score.
        passed: By criterion index.
        reason: Why it did not pass; empty when it did.
        failure_class: ``provider`` when that ended the agent; else None.
    """

    outcome: Outcome
    score: Decimal | None
    passed: tuple[bool, ...]
    reason: str
    failure_class: FailureClass | None = None


def trial_outcome(results: Sequence[CriterionResult], facts: TrialFacts) -> TrialScore:
    """Decide how a trial ended.

    A fault of ours (nothing could be set up, the provider failed, a weighted criterion is
    unscored) comes first and has no score; budgets override a pass; a crash or timeout never
    passes; exhausted turns matter only when criteria fail.
    """
    outcome = _fault(results, facts) or _measured(results, facts)
    score = None if outcome in UNSCORED_OUTCOMES else weighted_score(results)
    passed = tuple(result.passed for result in results)
    reason = "" if outcome is Outcome.PASSED else _reason(outcome, results, facts)
    failure_class = FailureClass.PROVIDER if _is_providers_fault(facts) else None
    return TrialScore(outcome, score, passed, reason, failure_class)


def weighted_score(results: Sequence[CriterionResult]) -> Decimal | None:
    """Σ score·weight / Σ weight over criteria with weight > 0, in [0, 1].

    None when one of them is unscored or none has a weight: that is not a zero.
    """
    total = Decimal(0)
    weights = Decimal(0)
    for result in results:
        if result.weight == 0:
            continue
        if isinstance(result.verdict, Unscored):
            return None
        weight = Decimal(str(result.weight))
        total += exact(result.verdict.score) * weight
        weights += weight
    return cut(total / weights) if weights else None


def _fault(results: Sequence[CriterionResult], facts: TrialFacts) -> Outcome | None:
    if facts.agent == "setup_failed":
        return Outcome.INFRA_FAILED
    if _is_providers_fault(facts):
        return Outcome.INFRA_FAILED
    return Outcome.GRADER_ERROR if weighted_score(results) is None else None


def _is_providers_fault(facts: TrialFacts) -> bool:
    return facts.agent in _CUT_SHORT and facts.bill.provider_error is not None


def _measured(results: Sequence[CriterionResult], facts: TrialFacts) -> Outcome:
    if facts.bill.refused in ("maxUsd", RUN_BUDGET):
        return Outcome.COST_BUDGET_EXCEEDED
    if facts.bill.refused == "maxTotalTokens":
        return Outcome.TOKEN_BUDGET_EXCEEDED
    if facts.agent == "timeout":
        return Outcome.TIMED_OUT
    if facts.agent in _CRASHES and facts.bill.refused is None:
        return Outcome.AGENT_ERROR
    if all(result.passed for result in results if result.weight > 0):
        return Outcome.AGENT_ERROR if facts.agent in _CRASHES else Outcome.PASSED
    if facts.agent == "max_turns" or facts.bill.refused == "maxModelCalls":
        return Outcome.TURNS_EXHAUSTED
    return Outcome.FAILED


def _reason(outcome: Outcome, results: Sequence[CriterionResult], facts: TrialFacts) -> str:
    if outcome is Outcome.INFRA_FAILED:
        return facts.bill.provider_error or facts.reason
    if outcome is Outcome.GRADER_ERROR:
        unscored = (r for r in results if r.weight > 0 and isinstance(r.verdict, Unscored))
        first = next(unscored, None)
        return f"{first.name}: {first.explanation}" if first else "no criterion has a weight"
    failing = next((r for r in results if r.weight > 0 and not r.passed), None)
    check = f"{failing.name}: {failing.explanation}" if failing else ""
    fact = facts.reason if outcome is not Outcome.FAILED else ""
    if facts.bill.refused == RUN_BUDGET:
        fact = "the run's budget (spec.budget.usd) was used up"
    elif facts.bill.refused:
        fact = f"{facts.bill.refused} was used up"
    return "; ".join(part for part in (fact, check) if part)
