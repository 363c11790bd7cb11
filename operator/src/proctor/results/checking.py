"""Whether a record is of the attempt that sends it."""

from pydantic import ValidationError

from proctor.api.record import EXECUTION, Execution
from proctor.api.stored import StoredTrial
from proctor.store.folders import FolderKey
from proctor.store.spool import BodyError
from proctor.store.store import Store

_EXECUTION_BYTES = 64 << 20


async def require_same_trial(store: Store, key: FolderKey, trial: StoredTrial) -> None:
    """Read the record's own word.

    Raises:
        BodyError: It is of another trial or attempt, or says nothing.
        StoreError: It cannot be read now.
    """
    part = next((part for part in await store.parts(key) if part.path == EXECUTION), None)
    if part is None:
        raise BodyError(f"the record has no {EXECUTION}")
    content = await store.content(key, part, _EXECUTION_BYTES)
    try:
        found = Execution.model_validate_json(content or b"").trial
    except ValidationError:
        raise BodyError(f"{EXECUTION} cannot be read") from None
    if (found.uid, found.attempt) != (trial.uid, trial.attempt):
        raise BodyError(f"the record is of attempt {found.attempt} of trial {found.uid}")
