"""Which kind of document this is."""

from enum import StrEnum
from typing import Any

from proctor.api.base import GROUP

_CODER_EVAL = ("task_id", "success_criteria", "initial_prompt", "initial_prompt_file")


class DocumentKind(StrEnum):
    """What a document is read as; FOREIGN is not read."""

    EVAL_RUN = "EvalRun"
    CONFIG_MAP = "ConfigMap"
    CODER_EVAL_TASK = "CoderEvalTask"
    FOREIGN = "Foreign"


def document_kind(value: Any) -> DocumentKind:
    """Recognise a document by what it names; a misspelt version of ours is still ours."""
    if not isinstance(value, dict):
        return DocumentKind.FOREIGN
    kind, version = value.get("kind"), str(value.get("apiVersion", ""))
    if kind == "EvalRun" or version.startswith(f"{GROUP}/"):
        return DocumentKind.EVAL_RUN
    if kind == "ConfigMap" and version == "v1":
        return DocumentKind.CONFIG_MAP
    if kind is None and any(key in value for key in _CODER_EVAL):
        return DocumentKind.CODER_EVAL_TASK
    return DocumentKind.FOREIGN
