"""The kinds that have a CustomResourceDefinition."""

from dataclasses import dataclass

from pydantic import BaseModel

from proctor.api.evalrun import EvalRunSpec
from proctor.api.evaltrial import EvalTrialSpec, EvalTrialStatus
from proctor.api.run_status import EvalRunStatus


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind.

    Args:
        about: What `kubectl explain` says of it.
    """

    name: str
    plural: str
    short: str
    about: str
    spec: type[BaseModel]
    status: type[BaseModel]


KINDS = (
    Kind(
        "EvalRun",
        "evalruns",
        "evr",
        "An evaluation of an agent: tasks, variants and repeats, and what came of them.",
        EvalRunSpec,
        EvalRunStatus,
    ),
    Kind(
        "EvalTrial",
        "evaltrials",
        "evt",
        "One (task, variant, repeat) of an EvalRun. The operator makes it; people only read it.",
        EvalTrialSpec,
        EvalTrialStatus,
    ),
)
