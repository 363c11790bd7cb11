"""The files of a local run's folder: ``run.json`` and each trial's ``trial.json``.

Additions keep the schema version; readers ignore fields that they do not know.
"""

from typing import Annotated, Literal

from pydantic import Field

from proctor.api.base import RatioText, SecondsText, Status, UsdText
from proctor.api.evaltrial import EvalTrialStatus, Tokens
from proctor.api.run_status import EvalRunStatus, TokenCounts

RUN_FILE_VERSION: Literal[1] = 1


class TrialLine(Status):
    """One trial, in short."""

    task: Annotated[str, Field(description="The task.")]
    variant: Annotated[str, Field(description="The variant.")]
    repeat: Annotated[int, Field(ge=0, description="From 0.")]
    agent: Annotated[str, Field(description="Agent type.")]
    model: Annotated[str | None, Field(description="Model; null: the agent's own choice.")] = None
    outcome: Annotated[str | None, Field(description="Null: it has not ended.")] = None
    score: Annotated[RatioText | None, Field(description="Null: not measured.")] = None
    reason: Annotated[
        str, Field(description="First failing criterion and why, or why there is no score.")
    ] = ""
    cost_usd: Annotated[UsdText | None, Field(description="US dollars spent; null: unknown.")] = (
        None
    )
    scripted_cost_usd: Annotated[
        UsdText | None, Field(description="What scripted or replayed answers would have cost.")
    ] = None
    cost_complete: Annotated[bool, Field(description="False: the cost is a floor.")] = True
    tokens: Tokens = TokenCounts()
    seconds: Annotated[
        SecondsText | None, Field(description="Wall time of all phases; null: unknown.")
    ] = None
    folder: Annotated[str, Field(description="Its folder, below that of the run.")] = ""


class RunFile(Status):
    """``run.json``: which run, how it stands, and one line a trial."""

    schema_version: Annotated[Literal[1], Field(description="Of this file.")] = RUN_FILE_VERSION
    producer: Annotated[str, Field(description="What wrote it, such as proctor 0.1.0.")]
    name: Annotated[str, Field(description="The run's name.")]
    suite: Annotated[str, Field(description="Its identity over time.")]
    uid: Annotated[str, Field(description="Random; the same when the run is resumed.")]
    models: Annotated[str, Field(description="Who answered: a value of spec.models.mode.")] = "Live"
    fingerprint: Annotated[str, Field(description="SHA-256 of what was asked for.")]
    status: Annotated[EvalRunStatus, Field(description="As on the EvalRun in a cluster.")]
    trials: Annotated[tuple[TrialLine, ...], Field(description="In the order of their start.")] = ()


class TrialFile(Status):
    """``trial.json``: one trial's status, as on the EvalTrial in a cluster."""

    schema_version: Annotated[Literal[1], Field(description="Of this file.")] = RUN_FILE_VERSION
    run: Annotated[str, Field(description="The run's name.")]
    task: Annotated[str, Field(description="The task.")]
    variant: Annotated[str, Field(description="The variant.")]
    repeat: Annotated[int, Field(ge=0, description="From 0.")]
    uid: Annotated[str, Field(description="Random; the same when the run is resumed.")]
    status: Annotated[
        EvalTrialStatus,
        Field(description="With an outcome when it has ended; else only its past attempts."),
    ] = EvalTrialStatus()
