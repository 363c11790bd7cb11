"""How a trial ended (design: outcomes), and whose fault an unfinished attempt was."""

from enum import StrEnum


class Outcome(StrEnum):
    """How a trial ended.

    ``Passed`` and ``Failed`` say what was measured. ``TimedOut``, ``TurnsExhausted`` (only when
    criteria fail), ``TokenBudgetExceeded`` and ``CostBudgetExceeded`` are facts of execution, and
    the budgets override a pass. ``AgentError``: the agent crashed; graded when it can be, never
    passed. ``InfraFailed``, ``GraderError``, ``Cancelled`` and ``NotGraded`` have no score.
    """

    PASSED = "Passed"
    FAILED = "Failed"
    TIMED_OUT = "TimedOut"
    TURNS_EXHAUSTED = "TurnsExhausted"
    TOKEN_BUDGET_EXCEEDED = "TokenBudgetExceeded"
    COST_BUDGET_EXCEEDED = "CostBudgetExceeded"
    AGENT_ERROR = "AgentError"
    INFRA_FAILED = "InfraFailed"
    GRADER_ERROR = "GraderError"
    CANCELLED = "Cancelled"
    NOT_GRADED = "NotGraded"


UNSCORED_OUTCOMES = frozenset(
    {Outcome.INFRA_FAILED, Outcome.GRADER_ERROR, Outcome.CANCELLED, Outcome.NOT_GRADED}
)
"""Outcomes whose score is null; all others have one."""


class FailureClass(StrEnum):
    """Whose fault it was that an attempt gave no verdict."""

    INFRA = "infra"
    CAPACITY = "capacity"
    CONFIG = "config"
    PROVIDER = "provider"
    TASK = "task"
    BUDGET = "budget"
    GRADER = "grader"
