"""Sends the record to the results server, for a bounded time. The verdict does not wait for luck.

What is sent twice is taken once, so a server that is killed, full or without its database is asked
again until the time is over.
"""

import json
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from proctor.api.record import MANIFEST
from proctor.api.results import RECORDS
from proctor.runner.places import ResultsPlace
from proctor.runner.printing import printable
from proctor.store.client import ResultsClient, ResultsError

INTERRUPTED = "grade was ended while it sent the record"
_FIRST_PAUSE_SECONDS = 0.5
_LONGEST_PAUSE_SECONDS = 8.0
_WHY_CHARACTERS = 90


def send_record(
    record: Path,
    digest: str,
    results: ResultsPlace,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> str:
    """Send a record folder; why it is not stored, or an empty text.

    What the server said goes before that it said nothing later: the last time is cut short.
    """
    end, pause, why = clock() + results.seconds, _FIRST_PAUSE_SECONDS, ""
    while True:
        left = max(end - clock(), 1.0)
        try:
            _send(record, digest, results, left)
        except ResultsError as error:
            if error.status is not None or not why:
                why = printable(str(error), _WHY_CHARACTERS)
            print(json.dumps({"problem": f"the record is not stored: {error}"}), flush=True)
            if error.is_final or clock() + pause >= end:
                return why
        except OSError as error:
            return printable(f"{type(error).__name__}: {error}", _WHY_CHARACTERS)
        else:
            return ""
        sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)


def _send(record: Path, digest: str, results: ResultsPlace, seconds: float) -> None:
    def headers() -> Mapping[str, str]:
        token = results.token_file.read_text(encoding="ascii").strip()
        return {"Authorization": f"Bearer {token}"}

    manifest = (record / MANIFEST).read_bytes()
    files = {part["sha256"]: record / part["path"] for part in json.loads(manifest)["parts"]}
    client = ResultsClient(results.url, headers, timeout_seconds=min(30.0, seconds))
    client.send_folder(RECORDS, digest, manifest, files)
