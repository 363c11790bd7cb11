"""EvalTrial: one (task, variant, repeat), made by the operator when its first attempt starts."""

from typing import Annotated, Literal

from pydantic import Field

from proctor.api.base import RatioText, SecondsText, Spec, Status, UsdText
from proctor.api.run_status import TokenCounts

MAX_ATTEMPTS = 24
"""Lines of a trial's history."""

Tokens = Annotated[
    TokenCounts, Field(description="Tokens by kind; a floor when costComplete is false.")
]
ModelCalls = Annotated[int, Field(description="Model calls; a floor when costComplete is false.")]


class TrialLimits(Spec):
    """What the gateway enforces; absent means no limit."""

    max_model_calls: Annotated[int | None, Field(ge=1, description="Most model calls.")] = None
    max_total_tokens: Annotated[int | None, Field(ge=1, description="Most tokens.")] = None
    max_usd: Annotated[UsdText | None, Field(description="Most US dollars.")] = None


class TrialModels(Spec):
    """Who answers the trial's model calls."""

    mode: Annotated[
        Literal["Live", "Record", "Replay", "Scripted"],
        Field(description="Live, Record, Replay or Scripted."),
    ] = "Live"
    script_config_map: Annotated[
        str | None, Field(max_length=253, description="Immutable ConfigMap with the script.")
    ] = None
    script_key: Annotated[str | None, Field(max_length=253, description="Key in it.")] = None
    cassette_config_map: Annotated[
        str | None, Field(max_length=253, description="Immutable ConfigMap with the cassette.")
    ] = None
    cassette_key: Annotated[str | None, Field(max_length=253, description="Key in it.")] = None
    cassette_path: Annotated[
        str | None, Field(max_length=512, description="The cassette on the gateway's volume.")
    ] = None


class EvalTrialSpec(Spec):
    """Which trial it is, what the gateway needs to know of it, and what its verdict speaks of."""

    run_name: Annotated[str, Field(max_length=63, description="The EvalRun.")]
    run_uid: Annotated[str, Field(max_length=64, description="UID of the EvalRun.")] = ""
    run_budget_usd: Annotated[
        UsdText | None,
        Field(description="What all trials of the run may spend together, in US dollars."),
    ] = None
    task: Annotated[str, Field(max_length=120, description="The task.")]
    variant: Annotated[str, Field(max_length=63, description="The variant.")]
    repeat: Annotated[int, Field(ge=0, description="From 0.")]
    agent: Annotated[str, Field(max_length=63, description="Agent type.")]
    model: Annotated[str | None, Field(max_length=253, description="Model, or null.")] = None
    attempt: Annotated[
        int, Field(ge=1, description="The current attempt; only its pod is served.")
    ] = 1
    limits: Annotated[TrialLimits, Field(description="Enforced by the gateway.")] = TrialLimits()
    models: Annotated[TrialModels, Field(description="Who answers.")] = TrialModels()
    criteria: Annotated[
        tuple[Annotated[str, Field(max_length=120)], ...],
        Field(max_length=100, description="Names of its criteria, in the order of its verdict."),
    ] = ()


class CriterionStatus(Status):
    """One criterion's verdict, in short."""

    name: Annotated[str, Field(max_length=120, description="Name, or type and position.")]
    score: Annotated[RatioText | None, Field(description="Null: it could not be checked.")] = None
    passed: Annotated[bool, Field(description="Reached its threshold.")] = False


class AttemptStatus(Status):
    """One pod of the trial and how it ended."""

    number: Annotated[int, Field(ge=1, description="From 1.")]
    pod_uid: Annotated[str, Field(max_length=64, description="UID of its pod.")] = ""
    failure_class: Annotated[
        str | None, Field(max_length=20, description="Absent: it gave a verdict.")
    ] = None
    reason: Annotated[str, Field(max_length=63, description="One word.")] = ""
    message: Annotated[str, Field(max_length=300, description="The kubelet's evidence.")] = ""
    cost_usd: Annotated[
        UsdText | None, Field(description="US dollars that it cost; null: unknown.")
    ] = None
    cost_complete: Annotated[bool, Field(description="False: its cost is a floor.")] = True
    scripted: Annotated[
        bool, Field(description="Its money was scripted or replayed: never spent.")
    ] = False
    replayed: Annotated[bool, Field(description="A cassette answered, and no script.")] = False
    tokens: Tokens = TokenCounts()
    model_calls: ModelCalls = 0


class StageSeconds(Status):
    """Wall time by stage, in seconds as decimal strings; absent: it did not run."""

    queue: Annotated[SecondsText | None, Field(description="From creation to start.")] = None
    agent: Annotated[SecondsText | None, Field(description="The agent's part.")] = None
    checks: Annotated[SecondsText | None, Field(description="Commands of criteria.")] = None
    grade: Annotated[SecondsText | None, Field(description="Grading.")] = None


class EvalTrialStatus(Status):
    """Set once, when the trial has ended; only ``attempts`` grows before that."""

    outcome: Annotated[str | None, Field(max_length=40, description="Absent: not ended.")] = None
    score: Annotated[RatioText | None, Field(description="Null: not measured.")] = None
    reason: Annotated[
        str, Field(max_length=240, description="First failing check, or why there is no score.")
    ] = ""
    criteria: Annotated[
        tuple[CriterionStatus, ...], Field(max_length=100, description="In the spec's order.")
    ] = ()
    cost_usd: Annotated[UsdText | None, Field(description="US dollars spent; null: unknown.")] = (
        None
    )
    scripted_cost_usd: Annotated[
        UsdText | None, Field(description="What scripted or replayed answers would have cost.")
    ] = None
    cost_complete: Annotated[bool, Field(description="False: the cost is a floor.")] = True
    tokens: Tokens = TokenCounts()
    model_calls: ModelCalls = 0
    refused: Annotated[
        str | None,
        Field(
            max_length=40, description="Limit that the gateway refused a call by; budget: run's."
        ),
    ] = None
    turns: Annotated[int | None, Field(description="Main-thread model calls; null: unknown.")] = (
        None
    )
    seconds: Annotated[StageSeconds, Field(description="Wall time by stage.")] = StageSeconds()
    attempts: Annotated[
        tuple[AttemptStatus, ...],
        Field(max_length=MAX_ATTEMPTS, description="All attempts, in order."),
    ] = ()
    pod_changes: Annotated[
        tuple[Annotated[str, Field(max_length=120)], ...],
        Field(
            max_length=20,
            description="What admission added to its pod or changed, as the chart allows it.",
        ),
    ] = ()
    record_digest: Annotated[
        str | None, Field(max_length=71, description="SHA-256 of the record that grade wrote.")
    ] = None
    record_place: Annotated[
        Literal["ResultsServer"] | None,
        Field(description="Where the record is; absent: nowhere but in its pod, if at all."),
    ] = None
    record_problem: Annotated[
        str, Field(max_length=120, description="Why the results server has no record.")
    ] = ""
    completion_time: Annotated[str | None, Field(max_length=32, description="UTC.")] = None
