"""What the results server has of a run."""

from urllib.parse import urlencode

from pydantic import ValidationError

from proctor.api.results import records_of
from proctor.api.stored import StoredRecord
from proctor.store.client import ResultsClient, ResultsError


def stored_records(
    client: ResultsClient, namespace: str, run: str
) -> tuple[tuple[StoredRecord, ...], str]:
    """Its records, oldest first, and why they cannot be had (empty: they can)."""
    try:
        body = client.json(f"{records_of(namespace)}?{urlencode({'run': run})}")
        return tuple(StoredRecord.model_validate(item) for item in body["items"]), ""
    except (ResultsError, ValidationError, ValueError, LookupError, TypeError) as error:
        return (), f"{error}"
