"""Rows of the index as folders, and back."""

from datetime import UTC, datetime
from typing import Any

from sqlalchemy import RowMapping

from proctor.api.stored import StoredFolder, StoredTrial
from proctor.store.folders import FolderKey
from proctor.store.tables import folders


def is_folder(key: FolderKey) -> tuple[Any, ...]:
    """Conditions on the table that one folder fulfils."""
    return (
        folders.c.namespace_uid == key.namespace_uid,
        folders.c.kind == key.kind,
        folders.c.digest == key.digest,
    )


def values_of(folder: StoredFolder) -> dict[str, Any]:
    """A folder's row, without what the database fills in."""
    common = folder.model_dump(exclude={"trial"})
    if folder.trial is None:
        return common
    trial = folder.trial.model_dump()
    return {**common, "trial": trial.pop("name"), "trial_uid": trial.pop("uid"), **trial}


def folder_of(row: RowMapping) -> StoredFolder:
    """The folder of a row."""
    return StoredFolder(
        kind=row["kind"],
        namespace=row["namespace"],
        namespace_uid=row["namespace_uid"],
        digest=row["digest"],
        size_bytes=row["size_bytes"],
        created_at=_utc(row["created_at"]),
        trial=None if row["trial_uid"] is None else _trial_of(row),
    )


def _trial_of(row: RowMapping) -> StoredTrial:
    names = StoredTrial.model_fields.keys() - {"name", "uid"}
    known = {name: row[name] for name in names}
    return StoredTrial(name=row["trial"], uid=row["trial_uid"], **known)


def _utc(moment: datetime) -> datetime:
    """SQLite forgets the zone; all that is written is UTC."""
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
