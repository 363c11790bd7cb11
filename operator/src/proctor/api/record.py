"""What a trial leaves: the JSON parts of a record folder, versioned, with their JSON Schemas.

::

    manifest.json         schema version, producer, path, SHA-256 and size of every other part
    execution.json        what happened, written once
    grading/1.json        what was made of it; grading again adds grading/2.json and so on
    transcript.jsonl      what the agent did (api.events), absent when none ran
    ledger.jsonl          the gateway's entries, absent when there are none
    evidence/checks.json  results of commands (api.report), absent without any
    artifacts/...         files of the workspace that were asked for, with artifacts.json

The digest of a record is the SHA-256 of its ``manifest.json``. Readers ignore fields that they
do not know: additions keep the major version.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from proctor.api.base import RatioText, SecondsText, Status, UsdText

SCHEMA_VERSION = "1.0"
MANIFEST = "manifest.json"
EXECUTION = "execution.json"
LEDGER = "ledger.jsonl"
CHECKS_PART = "evidence/checks.json"
ARTIFACTS = "artifacts"
ARTIFACTS_PART = "artifacts.json"

Version = Annotated[str, Field(pattern=r"^1\.[0-9]+$", description="Of this part; 1.x is read.")]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$", description="SHA-256, hexadecimal.")]


def grading_part(number: int) -> str:
    """Path of the ``number``-th grading, from 1."""
    return f"grading/{number}.json"


class RecordPart(Status):
    """One file of a record."""

    path: Annotated[str, Field(description="Below the record's folder, with `/`.")]
    sha256: Sha256
    size: Annotated[int, Field(ge=0, description="Bytes.")]


class RecordManifest(Status):
    """Names every other part; its SHA-256 stands for the whole record."""

    schema_version: Version = SCHEMA_VERSION
    producer: Annotated[str, Field(description="What wrote it, such as proctor/0.1.0.")]
    parts: Annotated[tuple[RecordPart, ...], Field(description="Sorted by path.")]


class RecordTrial(Status):
    """Which trial and attempt it is of."""

    run: Annotated[str, Field(description="The EvalRun.")]
    task: Annotated[str, Field(description="The task.")]
    variant: Annotated[str, Field(description="The variant.")]
    repeat: Annotated[int, Field(description="From 0.")]
    uid: Annotated[str, Field(description="UID of the trial.")]
    attempt: Annotated[int, Field(description="From 1.")]


class RecordShell(Status):
    """A preRun or postRun command."""

    command: Annotated[str, Field(description="Command line.")]
    exit_code: Annotated[int | None, Field(description="Null: it did not end by itself.")]
    output: Annotated[str, Field(description="The last of its output.")]
    seconds: Annotated[SecondsText, Field(description="Wall time.")]


class RecordAgent(Status):
    """How the agent's part ended, as its runner reported."""

    status: Annotated[str, Field(description="completed, crashed, timeout, max_turns, …")]
    reason: Annotated[str, Field(description="Why, when it did not complete.")] = ""
    started: Annotated[bool, Field(description="Whether an agent process had started.")] = False
    turns: Annotated[int | None, Field(description="Main-thread model calls; null: unknown.")] = (
        None
    )
    pre_run: Annotated[tuple[RecordShell, ...], Field(description="Commands before it.")] = ()
    memory_kills: Annotated[
        int, Field(description="How often its largest process group was killed to save memory.")
    ] = 0


class RecordTokens(Status):
    """Tokens by kind; the kinds do not overlap."""

    input: Annotated[int, Field(description="Uncached input tokens.")] = 0
    output: Annotated[int, Field(description="Output tokens.")] = 0
    cache_read: Annotated[int, Field(description="Input tokens read from the cache.")] = 0
    cache_write: Annotated[int, Field(description="Input tokens written to the cache.")] = 0


class RecordBill(Status):
    """What the attempt used, as the gateway counted."""

    mode: Annotated[
        str, Field(description="Live, Record, Replay or Scripted; the last two spend nothing.")
    ]
    calls: Annotated[int, Field(description="Model calls; a floor when costComplete is false.")] = 0
    tokens: Annotated[RecordTokens, Field(description="Sum over all calls that gave figures.")] = (
        RecordTokens()
    )
    cost_usd: Annotated[UsdText | None, Field(description="US dollars; null: unknown.")] = None
    cost_complete: Annotated[bool, Field(description="False: the cost is a floor.")] = True
    refused: Annotated[str | None, Field(description="Which limit ended it, or null.")] = None
    provider_error: Annotated[str | None, Field(description="The provider's last failure.")] = None


class RecordSeconds(Status):
    """Wall time by stage; null: it did not run."""

    agent: Annotated[SecondsText | None, Field(description="The agent's part.")] = None
    checks: Annotated[SecondsText | None, Field(description="Commands of criteria.")] = None
    grade: Annotated[SecondsText | None, Field(description="Grading.")] = None


class Execution(Status):
    """What happened in one attempt; grading again never changes it."""

    schema_version: Version = SCHEMA_VERSION
    trial: Annotated[RecordTrial, Field(description="Which trial.")]
    context: Annotated[dict[str, str | None], Field(description="Suite, agent, model, …")]
    lineage: Annotated[dict[str, str], Field(description="Merged field → where it came from.")]
    agent: Annotated[RecordAgent, Field(description="How the agent's part ended.")]
    bill: Annotated[RecordBill, Field(description="Calls, tokens and money.")]
    seconds: Annotated[RecordSeconds, Field(description="Wall time by stage.")]
    workspace_notes: Annotated[
        tuple[str, ...],
        Field(
            description="Of a fetched repository: empty submodules, pointers of Git LFS, links "
            "that lead out."
        ),
    ] = ()


class RecordCriterion(Status):
    """One criterion's verdict."""

    type: Annotated[str, Field(description="Criterion type.")]
    name: Annotated[str, Field(description="Name, or type and position.")]
    weight: Annotated[float, Field(description="Share in the score; 0 informs.")]
    pass_threshold: Annotated[float, Field(description="Score from which it is passed.")]
    score: Annotated[RatioText | None, Field(description="Null: it could not be checked.")]
    passed: Annotated[bool, Field(description="Reached its threshold.")]
    explanation: Annotated[str, Field(description="What was found.")] = ""
    seconds: Annotated[SecondsText, Field(description="Time that judging took.")]
    evidence: Annotated[
        Literal["frozen", "beside-agent"],
        Field(description="beside-agent: a command's result, made where the agent's code runs."),
    ]


class Grading(Status):
    """What was made of the evidence."""

    schema_version: Version = SCHEMA_VERSION
    number: Annotated[int, Field(ge=1, description="From 1.")] = 1
    outcome: Annotated[str, Field(description="How the trial ended.")]
    score: Annotated[RatioText | None, Field(description="Null: not measured.")]
    reason: Annotated[str, Field(description="Why it did not pass.")] = ""
    criteria: Annotated[tuple[RecordCriterion, ...], Field(description="In the spec's order.")]
    absent: Annotated[
        dict[str, str], Field(description="Files looked for that are no data, and why.")
    ] = {}


class RecordArtifacts(Status):
    """What was kept of the workspace, and what was not."""

    schema_version: Version = SCHEMA_VERSION
    paths: Annotated[tuple[str, ...], Field(description="The globs that were asked for.")]
    files: Annotated[int, Field(ge=0, description="Files that were kept.")]
    size_bytes: Annotated[int, Field(ge=0, description="Bytes of all of them.")]
    left_out: Annotated[
        dict[str, str], Field(description="Files that were not kept, and why; the first 200.")
    ] = {}
    left_out_files: Annotated[int, Field(ge=0, description="How many were not kept.")] = 0


def record_schemas() -> dict[str, dict[str, Any]]:
    """JSON Schemas of the JSON parts, by file name without ``.json``."""
    models: dict[str, type[Status]]
    models = {
        "manifest": RecordManifest,
        "execution": Execution,
        "grading": Grading,
        "artifacts": RecordArtifacts,
    }
    return {name: model.model_json_schema(mode="serialization") for name, model in models.items()}
