"""What `proctor records` does."""

import hashlib
from dataclasses import dataclass
from pathlib import Path

import click

from proctor.api.errors import UserError
from proctor.api.record import MANIFEST, RecordManifest
from proctor.api.record_folder import read_record
from proctor.api.results import records_of, written_digest
from proctor.cli.kube import connect, current_namespace
from proctor.cli.server import reach
from proctor.cli.stored import stored_records
from proctor.cli.trials import ClusterTrial, choose, trials_of
from proctor.store.client import ResultsClient, ResultsError, part_path


@dataclass(frozen=True, slots=True)
class RecordsRequest:
    """The command's options."""

    run: str
    trials: tuple[str, ...]
    namespace: str | None
    server: str
    service_account: str
    output: Path | None


def fetch_records(request: RecordsRequest) -> int:
    """Print a line for each record; with an output folder download it.

    Raises:
        UserError: The server cannot be asked, or the run has no records.
    """
    kube = connect()
    namespace = request.namespace or current_namespace()
    client = reach(kube, namespace, request.server, request.service_account)
    stored, problem = stored_records(client, namespace, request.run)
    if problem:
        raise UserError(f"the results server cannot be asked: {problem}")
    for trial in choose(trials_of((), stored), request.trials, request.run):
        assert trial.digest is not None, "each is a stored record"
        line = f"{trial.title}  {written_digest(trial.digest)}"
        if request.output is not None:
            folder = _download(client, records_of(namespace), trial, request.output)
            line += f"  {folder}"
        click.echo(line)
    return 0


def _download(client: ResultsClient, base: str, trial: ClusterTrial, output: Path) -> Path:
    """Write a record's folder, its manifest last; ``UserError`` when that does not succeed."""
    assert trial.digest is not None
    folder = output / trial.title.replace("/", "+") / "record"
    try:
        content = b"".join(client.read(f"{base}/{trial.digest}"))
        if hashlib.sha256(content).hexdigest() != trial.digest:
            raise UserError(f"{trial.title}: the manifest is not what its digest stands for")
        for part in RecordManifest.model_validate_json(content).parts:
            target = folder / part.path
            if not target.resolve().is_relative_to(folder.resolve()):
                raise UserError(f"{trial.title}: part {part.path!r} is outside the record")
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("wb") as file:
                for chunk in client.read(part_path(base, trial.digest, part.path)):
                    file.write(chunk)
        (folder / MANIFEST).write_bytes(content)
        read_record(folder, trial.digest)
    except (ResultsError, OSError, ValueError) as error:
        raise UserError(f"{trial.title}: {error}") from error
    return folder
