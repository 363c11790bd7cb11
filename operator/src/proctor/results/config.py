"""The results server's configuration file: where things lie, how large, how long."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Self

import yaml
from pydantic import Field, ValidationError, model_validator

from proctor.api.base import Spec
from proctor.api.errors import Problem, SpecError
from proctor.store.store import Limits

INDEX_URL = "PROCTOR_RESULTS_INDEX_URL"
"""Variable with the index's address: it holds a password, so it comes from a Secret."""


class BucketConfig(Spec):
    """An object store. Credentials come from the environment or the machine's identity."""

    url: Annotated[str, Field(pattern=r"^(s3|gs|az)://[^\s]+$")]
    config: Annotated[
        Mapping[str, str], Field(description="obstore's settings: endpoint, region, …")
    ] = {}


class LimitsConfig(Spec):
    """How large one folder may be."""

    max_folder_mib: Annotated[int, Field(ge=1, le=1 << 20, alias="maxFolderMiB")] = 256


class RetentionConfig(Spec):
    """When folders are removed; null: never for that reason.

    Never more than ``maxTotalMiB`` is kept: beyond nine tenths of it the oldest go.
    """

    max_age_days: Annotated[float | None, Field(gt=0)] = None
    max_total_mib: Annotated[int | None, Field(ge=1, alias="maxTotalMiB")] = None
    interval_seconds: Annotated[float, Field(gt=0)] = 3600.0


class ResultsConfig(Spec):
    """The whole file. Without ``bucket`` folders lie below ``folder``, the index always does."""

    folder: Annotated[Path, Field(description="The server's own volume.")]
    bucket: BucketConfig | None = None
    limits: LimitsConfig = LimitsConfig()
    operator_service_account: Annotated[
        str | None,
        Field(
            pattern=r"^[-a-z0-9.]+/[-a-z0-9.]+$",
            description="namespace/name of who reads bundles; null: nobody.",
        ),
    ] = None
    retention: RetentionConfig = RetentionConfig()

    def store_limits(self) -> Limits:
        """How much the store takes."""
        most = self.retention.max_total_mib
        return Limits(
            folder_bytes=self.limits.max_folder_mib << 20,
            total_bytes=None if most is None else most << 20,
        )

    @model_validator(mode="after")
    def _absolute(self) -> Self:
        if not self.folder.is_absolute():
            raise ValueError("folder is not absolute")
        return self

    def index_url(self, environment: Mapping[str, str]) -> str:
        """Address of the index: the environment's, or a file on the volume."""
        given = environment.get(INDEX_URL, "")
        if given.startswith(("postgres://", "postgresql://")):
            return f"postgresql+psycopg://{given.partition('://')[2]}"
        return given or f"sqlite:///{self.folder / 'index.sqlite'}"


def read_config(text: str, file: str) -> ResultsConfig:
    """Read the file's text.

    Raises:
        SpecError: With all problems.
    """
    try:
        document = yaml.safe_load(text)
        return ResultsConfig.model_validate({} if document is None else document)
    except yaml.YAMLError as error:
        raise SpecError([Problem("(file)", f"is not YAML: {error}", file=file)]) from None
    except ValidationError as error:
        problems = [
            Problem(".".join(map(str, part["loc"])) or "(file)", part["msg"], file=file)
            for part in error.errors()
        ]
        raise SpecError(problems) from None
