"""EvalRun's status: what came of it."""

from dataclasses import asdict
from typing import Annotated, Literal, Self

from pydantic import Field

from proctor.api.base import (
    RatioText,
    Status,
    UsdText,
)
from proctor.api.conditions import Condition
from proctor.api.evalrun import MAX_VARIANTS
from proctor.api.secret_refs import MAX_SECRETS, SecretUse
from proctor.api.usage import Usage


class TrialCounts(Status):
    """Trials by state; ``total`` is the sum of the others."""

    total: Annotated[int, Field(description="All trials.")] = 0
    pending: Annotated[int, Field(description="Not started, or waiting for another attempt.")] = 0
    running: Annotated[int, Field(description="With an attempt that runs.")] = 0
    passed: Annotated[int, Field(description="Outcome Passed.")] = 0
    failed: Annotated[int, Field(description="Scored, but not passed.")] = 0
    errored: Annotated[int, Field(description="Without a score: platform or grader.")] = 0
    cancelled: Annotated[int, Field(description="Cancelled before a verdict.")] = 0


class TokenCounts(Status):
    """Tokens by kind, of all attempts."""

    input: Annotated[int, Field(description="Uncached input tokens.")] = 0
    output: Annotated[int, Field(description="Output tokens.")] = 0
    cache_read: Annotated[int, Field(description="Input tokens read from the cache.")] = 0
    cache_write: Annotated[int, Field(description="Input tokens written to the cache.")] = 0

    @classmethod
    def of(cls, usage: Usage) -> Self:
        """As a status writes them."""
        return cls(**asdict(usage))

    def usage(self) -> Usage:
        """As arithmetic takes them."""
        return Usage(self.input, self.output, self.cache_read, self.cache_write)


_TOKENS = "Tokens of all attempts; a floor when costComplete is false."


class Spending(Status):
    """What the run used so far, by the gateway: trials that run included. Advisory."""

    model_calls: Annotated[int, Field(description="Model calls that are over.")] = 0
    tokens: Annotated[TokenCounts, Field(description="Tokens so far.")] = TokenCounts()
    cost_usd: Annotated[UsdText, Field(description="US dollars spent so far.")]
    scripted_cost_usd: Annotated[
        UsdText | None,
        Field(description="What answers without a provider would have cost."),
    ] = None


class VariantStatus(Status):
    """How one variant did."""

    name: Annotated[str, Field(max_length=63, description="The variant.")]
    agent: Annotated[str, Field(max_length=63, description="Agent type, or mixed.")] = ""
    model: Annotated[str | None, Field(max_length=253, description="Model, or null.")] = None
    total: Annotated[int, Field(description="Its trials.")] = 0
    scored: Annotated[int, Field(description="Trials with a score.")] = 0
    passed: Annotated[int, Field(description="Trials that passed.")] = 0
    score: Annotated[RatioText | None, Field(description="Mean score of scored trials.")] = None
    pass_ratio: Annotated[RatioText | None, Field(description="passed / scored.")] = None
    cost_usd: Annotated[UsdText | None, Field(description="Spent on it; null: unknown.")] = None
    scripted_cost_usd: Annotated[
        UsdText | None, Field(description="What scripted or replayed answers would have cost.")
    ] = None
    cost_complete: Annotated[bool, Field(description="False: the cost is a floor.")] = True
    tokens: Annotated[TokenCounts, Field(description=_TOKENS)] = TokenCounts()


class FailingTrial(Status):
    """Why one trial did not pass, in short."""

    task: Annotated[str, Field(max_length=120, description="The task.")]
    variant: Annotated[str, Field(max_length=63, description="The variant.")]
    repeat: Annotated[int, Field(description="From 0.")]
    outcome: Annotated[str, Field(max_length=40, description="How it ended.")]
    reason: Annotated[str, Field(max_length=240, description="First failing check and why.")] = ""


class EvalRunStatus(Status):
    """What came of the run. Scores and money are decimal strings; null was not measured."""

    observed_generation: Annotated[int, Field(description="Generation of the spec seen.")] = 0
    conditions: Annotated[
        tuple[Condition, ...], Field(max_length=16, description="See the conditions' reasons.")
    ] = ()
    state: Annotated[
        str, Field(max_length=40, description="A word for people, derived from the conditions.")
    ] = ""
    agent: Annotated[str, Field(max_length=63, description="Agent type, or mixed.")] = ""
    user: Annotated[
        str, Field(max_length=16, description="User of its containers: NonRoot, Image, or mixed.")
    ] = ""
    seed: Annotated[str, Field(max_length=32, description="Of the order of trials.")] = ""
    secrets: Annotated[
        tuple[SecretUse, ...],
        Field(max_length=MAX_SECRETS, description="Every Secret that its agents are given."),
    ] = ()
    sources_digest: Annotated[
        str,
        Field(max_length=64, description="SHA-256 of the ConfigMaps that its workspaces name."),
    ] = ""
    trials: Annotated[TrialCounts, Field(description="Trials by state.")] = TrialCounts()
    score: Annotated[RatioText | None, Field(description="Mean score of scored trials.")] = None
    pass_ratio: Annotated[RatioText | None, Field(description="Passed of scored trials.")] = None
    completion_ratio: Annotated[RatioText | None, Field(description="Scored of all trials.")] = None
    cost_usd: Annotated[
        UsdText | None,
        Field(description="US dollars spent; scripted and replayed money is left out."),
    ] = None
    scripted_cost_usd: Annotated[
        UsdText | None, Field(description="What scripted or replayed answers would have cost.")
    ] = None
    cost_complete: Annotated[bool, Field(description="False: the cost is a floor.")] = True
    tokens: Annotated[TokenCounts, Field(description=_TOKENS)] = TokenCounts()
    spending: Annotated[
        Spending | None, Field(description="So far; absent once the run is complete.")
    ] = None
    variants: Annotated[
        tuple[VariantStatus, ...], Field(max_length=MAX_VARIANTS, description="By variant.")
    ] = ()
    failing: Annotated[
        tuple[FailingTrial, ...], Field(max_length=20, description="The first that did not pass.")
    ] = ()
    gate: Annotated[
        Literal["Passed", "Failed"] | None, Field(description="Absent: no gate, or not finished.")
    ] = None
    start_time: Annotated[
        str | None, Field(max_length=32, description="When the first trial was planned, UTC.")
    ] = None
    completion_time: Annotated[str | None, Field(max_length=32, description="End, UTC.")] = None
