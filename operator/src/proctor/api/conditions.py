"""The conditions of an EvalRun: one constant each, with its meaning, polarity and reasons."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from proctor.api.base import Status


class ConditionType(StrEnum):
    """Conditions of an EvalRun; ``CONDITIONS`` says what each means."""

    ACCEPTED = "Accepted"
    PROGRESSING = "Progressing"
    COMPLETE = "Complete"
    GATE_PASSED = "GatePassed"
    BUDGET_EXCEEDED = "BudgetExceeded"
    NETWORK_ENFORCED = "NetworkEnforced"
    RESULTS_STORED = "ResultsStored"


class Reason(StrEnum):
    """The closed set of reasons; ``CONDITIONS`` and ``WAITING_REASONS`` say where each occurs."""

    RESOLVED = "Resolved"
    SPEC_INVALID = "SpecInvalid"
    SOURCE_NOT_FOUND = "SourceNotFound"
    SOURCE_UNAVAILABLE = "SourceUnavailable"
    TRIALS_RUNNING = "TrialsRunning"
    TRIALS_PENDING = "TrialsPending"
    SUSPENDED = "Suspended"
    IN_PROGRESS = "InProgress"
    ALL_TRIALS_FINISHED = "AllTrialsFinished"
    REJECTED = "Rejected"
    CANCELLED = "Cancelled"
    DEADLINE_EXCEEDED = "DeadlineExceeded"
    GATE_MET = "GateMet"
    PASS_THRESHOLD_MISSED = "PassThresholdMissed"
    COMPLETION_MISSED = "CompletionMissed"
    BUDGET_USED_UP = "BudgetUsedUp"
    ALL_STORED = "AllStored"
    RECORDS_MISSING = "RecordsMissing"
    UNSCHEDULABLE = "Unschedulable"
    IMAGE_PULL_FAILED = "ImagePullFailed"
    CONTAINER_CONFIG_ERROR = "ContainerConfigError"
    SERVICE_NOT_READY = "ServiceNotReady"
    QUOTA_EXCEEDED = "QuotaExceeded"
    ADMISSION_DENIED = "AdmissionDenied"
    VOLUME_NOT_READY = "VolumeNotReady"
    SECRET_MISSING = "SecretMissing"
    SERVICE_ACCOUNT_UNFIT = "ServiceAccountUnfit"
    PENDING_TIMEOUT = "PendingTimeout"
    NETWORK_NOT_READY = "NetworkNotReady"
    CANARY_REFUSED = "CanaryRefused"
    NOT_ENFORCED = "NotEnforced"
    AGENTS_NOT_CONFINED = "AgentsNotConfined"
    OTHER_POLICIES = "OtherPolicies"


@dataclass(frozen=True, slots=True)
class ConditionMeaning:
    """What a condition says.

    Args:
        absent: When a run does not have it.
        reasons: Every reason that it may carry, with what that says.
    """

    true: str
    false: str
    unknown: str
    absent: str
    reasons: Mapping[Reason, str]


_END_REASONS = {
    Reason.ALL_TRIALS_FINISHED: "Every trial has an outcome.",
    Reason.REJECTED: "The spec cannot be run; see Accepted.",
    Reason.CANCELLED: "The spec says cancelled.",
    Reason.DEADLINE_EXCEEDED: "activeDeadlineSeconds have passed.",
}

WAITING_REASONS: Mapping[Reason, str] = {
    Reason.UNSCHEDULABLE: "No node has room for the pod, or none fits it.",
    Reason.IMAGE_PULL_FAILED: "An image cannot be pulled.",
    Reason.CONTAINER_CONFIG_ERROR: "A container cannot be made as it is described.",
    Reason.SERVICE_NOT_READY: "A service of the sandbox does not answer on its port.",
    Reason.QUOTA_EXCEEDED: "The namespace's quota is used up.",
    Reason.ADMISSION_DENIED: "An admission rule of the cluster refuses the pod.",
    Reason.VOLUME_NOT_READY: "A volume of the pod is not ready.",
    Reason.SERVICE_ACCOUNT_UNFIT: "The ServiceAccount proctor-trial carries a cloud identity or "
    "Secrets, or somebody removed it.",
    Reason.SECRET_MISSING: "A Secret that the run names, or a key in it, does not exist.",
    Reason.NETWORK_NOT_READY: "A Service or NetworkPolicy of Proctor's is missing or changed.",
    Reason.PENDING_TIMEOUT: "The pod did not start within pendingTimeoutSeconds.",
}
"""Why a pod waits: in Progressing, in its message, and in the history of a trial."""

CONDITIONS: Mapping[ConditionType, ConditionMeaning] = {
    ConditionType.ACCEPTED: ConditionMeaning(
        true="Every task, agent and criterion could be resolved.",
        false="Something could not; the message names field and remedy, and the run ends.",
        unknown="Something that the run names is awaited.",
        absent="The operator has not seen the run yet.",
        reasons={
            Reason.RESOLVED: "All of the spec could be resolved.",
            Reason.SPEC_INVALID: "Fields of the spec are wrong; the message lists all of them.",
            Reason.SOURCE_NOT_FOUND: "A ConfigMap that it names is not there yet, or it, or a "
            "bundle, is gone after the run has started.",
            Reason.SOURCE_UNAVAILABLE: "The results server does not give the bundle that it names.",
        },
    ),
    ConditionType.PROGRESSING: ConditionMeaning(
        true="Trials start or run.",
        false="None can, or all have ended; the reason says which.",
        unknown="Never.",
        absent="The operator has not seen the run yet.",
        reasons={
            Reason.TRIALS_RUNNING: "At least one trial runs.",
            Reason.TRIALS_PENDING: "Trials wait to start.",
            Reason.SUSPENDED: "The spec says suspend.",
            Reason.SOURCE_NOT_FOUND: "The run is not accepted yet; see Accepted.",
            Reason.SOURCE_UNAVAILABLE: "The run is not accepted yet; see Accepted.",
            **WAITING_REASONS,
            **_END_REASONS,
        },
    ),
    ConditionType.COMPLETE: ConditionMeaning(
        true="The run is in an end state, however it went, so that waiting for it never hangs.",
        false="It goes on.",
        unknown="Never.",
        absent="The operator has not seen the run yet.",
        reasons={Reason.IN_PROGRESS: "Trials are left.", **_END_REASONS},
    ),
    ConditionType.GATE_PASSED: ConditionMeaning(
        true="The run is complete and reached what its gate asks for.",
        false="It is complete and did not.",
        unknown="Never.",
        absent="The spec has no gate, or the run is not complete.",
        reasons={
            Reason.GATE_MET: "All that the gate asks for was reached.",
            Reason.PASS_THRESHOLD_MISSED: "minPassRatio or minScore was not reached.",
            Reason.COMPLETION_MISSED: "Too few trials have a score.",
        },
    ),
    ConditionType.BUDGET_EXCEEDED: ConditionMeaning(
        true="The run's budget is used up: agents are refused, and no trial starts any more.",
        false="Never: a budget that was used up stays so.",
        unknown="Never.",
        absent="The spec has no budget, or it is not used up.",
        reasons={Reason.BUDGET_USED_UP: "As much as spec.budget.usd was spent, or more."},
    ),
    ConditionType.NETWORK_ENFORCED: ConditionMeaning(
        true="Before each agent started, its pod reached the gateway and nothing that it should "
        "not.",
        false="It did, or could have; once agents have run so, it stays.",
        unknown="Never.",
        absent="No trial's pod has proved anything yet, or it is a local run.",
        reasons={
            Reason.CANARY_REFUSED: "The gateway answered, and its canary did not.",
            Reason.NOT_ENFORCED: "The canary answered: NetworkPolicies are not enforced, so no "
            "agent started.",
            Reason.AGENTS_NOT_CONFINED: "The canary answered, and agents ran nevertheless, because "
            "the chart's network.requireEnforcement is false.",
            Reason.OTHER_POLICIES: "Policies that are not Proctor's open trial pods; the message "
            "names them.",
        },
    ),
    ConditionType.RESULTS_STORED: ConditionMeaning(
        true="The run is complete, and the results server has every record that its trials left.",
        false="It lacks records; the message counts and names them. Their verdicts stand.",
        unknown="Never.",
        absent="There is no results server, or the run goes on and nothing is missing so far.",
        reasons={
            Reason.ALL_STORED: "Every record that a trial left is stored.",
            Reason.RECORDS_MISSING: "At least one was not taken; each trial's status says why.",
        },
    ),
}


class Condition(Status):
    """A Kubernetes condition."""

    type: Annotated[str, Field(max_length=63, description="What it is about.")]
    status: Annotated[
        Literal["True", "False", "Unknown"], Field(description="True, False, Unknown.")
    ]
    reason: Annotated[str, Field(min_length=1, max_length=128, description="One CamelCase word.")]
    message: Annotated[str, Field(max_length=8192, description="For people.")] = ""
    last_transition_time: Annotated[
        str, Field(max_length=32, description="When status last changed, UTC.")
    ]
    observed_generation: Annotated[int, Field(description="Generation of the spec seen.")] = 0
