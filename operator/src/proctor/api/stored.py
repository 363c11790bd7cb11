"""What the results server knows of a folder that it holds."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from proctor.api.base import Status


class StoredTrial(Status):
    """The attempt that a record is of, as its EvalTrial said when it came."""

    name: Annotated[str, Field(description="The EvalTrial.")]
    uid: Annotated[str, Field(description="Its UID.")]
    attempt: Annotated[int, Field(description="From 1.")]
    run: Annotated[str, Field(description="The EvalRun.")]
    run_uid: Annotated[str, Field(description="Its UID.")]
    task: Annotated[str, Field(description="The task.")]
    variant: Annotated[str, Field(description="The variant.")]
    repeat: Annotated[int, Field(description="From 0.")]


class StoredFolder(Status):
    """A folder; it lies beside its parts in the store, so that a lost index can be made again."""

    kind: Annotated[Literal["record", "bundle"], Field(description="What it is.")]
    namespace: Annotated[str, Field(description="Whose it is.")]
    namespace_uid: Annotated[str, Field(description="A namespace made again inherits nothing.")]
    digest: Annotated[str, Field(description="SHA-256 of its manifest, hexadecimal.")]
    size_bytes: Annotated[int, Field(ge=0, description="Manifest and parts.")]
    created_at: Annotated[datetime, Field(description="When it was first asked for, UTC.")]
    trial: Annotated[
        StoredTrial | None, Field(description="The attempt that a record is of; null: no record.")
    ] = None


class StoredRecord(StoredFolder):
    """A folder that is a record."""

    kind: Literal["record"]
    trial: StoredTrial
