"""The operator's settings: one YAML file, which the chart writes, read once at start."""

from pathlib import Path
from typing import Annotated, Literal

import yaml
from pydantic import Field

from proctor.api.base import Spec
from proctor.api.task import Resources


class TrialSettings(Spec):
    """What holds for every trial pod."""

    user_id: Annotated[
        int | None,
        Field(ge=1, description="UID and GID; null leaves both to the platform (OpenShift)."),
    ] = 64000
    grade_resources: Annotated[
        Resources, Field(description="Of the containers that run no agent code.")
    ] = Resources(cpu="500m", memory="512Mi", ephemeral_storage="1Gi")
    finished_pods: Annotated[
        Literal["Keep", "KeepFailed", "Delete"],
        Field(description="What happens to pods once their verdict is recorded."),
    ] = "KeepFailed"


class ResultsSettings(Spec):
    """The results server, as trial pods reach it."""

    upload_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$", description="For records.")]
    upload_seconds: Annotated[
        int, Field(ge=1, le=3600, description="For how long grade tries to send its record.")
    ] = 120


class OperatorSettings(Spec):
    """Everything that the operator is told from outside."""

    namespaces: Annotated[
        tuple[str, ...], Field(description="Namespaces to serve; empty: all of them.")
    ] = ()
    runner_image: Annotated[str, Field(min_length=1, description="Image with the runner.")]
    task_image: Annotated[str, Field(min_length=1, description="For tasks that name no image.")]
    image_pull_policy: Literal["IfNotPresent", "Always", "Never"] = "IfNotPresent"
    image_pull_secrets: Annotated[
        tuple[str, ...], Field(description="Names, in the trial's namespace.")
    ] = ()
    gateway_url: Annotated[str, Field(description="Base URL, as trial pods reach it.")]
    gateway_token_file: Annotated[
        Path | None, Field(description="The operator's own key for bills; null: no bills.")
    ] = None
    priced_models: Annotated[
        tuple[str, ...],
        Field(description="Models that the gateway's configuration gives a price."),
    ] = ()
    results: Annotated[
        ResultsSettings | None, Field(description="Null: records stay in their pods.")
    ] = None
    trial: TrialSettings = TrialSettings()
    port: Annotated[int, Field(ge=1, le=65535, description="Health and metrics.")] = 8080


def read_settings(path: Path) -> OperatorSettings:
    """Read the file.

    Raises:
        OSError: It cannot be read.
        ValueError: It is no YAML, or holds something that is no setting; the message says what.
    """
    try:
        return OperatorSettings.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except yaml.YAMLError as error:
        raise ValueError(f"{path}: {error}") from error
