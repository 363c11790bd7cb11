"""What `proctor logs` does."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import click

from proctor.api.errors import UserError
from proctor.api.report import TRANSCRIPT
from proctor.api.results import records_of
from proctor.api.stored import StoredRecord
from proctor.cli.kube import Kube, connect, current_namespace
from proctor.cli.server import reach
from proctor.cli.stored import stored_records
from proctor.cli.transcript import readable
from proctor.cli.trials import ClusterTrial, choose, trials_of
from proctor.store.client import ResultsClient, ResultsError, part_path

_AGENT = "agent"


@dataclass(frozen=True, slots=True)
class LogsRequest:
    """The command's options."""

    run: str
    trials: tuple[str, ...]
    namespace: str | None
    server: str
    service_account: str
    as_json: bool


def show_logs(request: LogsRequest) -> int:
    """Print the logs of all trials that are meant; 1 when one of them has none."""
    kube = connect()
    namespace = request.namespace or current_namespace()
    client, stored = _server(kube, namespace, request)
    known = trials_of(kube.trials(namespace, request.run), stored)
    complete = True
    for trial in choose(known, request.trials, request.run):
        outcome = f" ({trial.outcome})" if trial.outcome else ""
        click.echo(f"== {trial.title}{outcome}", err=request.as_json)
        lines = _lines(trial, kube, client, namespace)
        if lines is None:
            complete = False
            why = trial.problem or ("its pod is gone" if trial.outcome else "nothing yet")
            click.echo(f"   no log: {why}", err=True)
            continue
        for line in lines if request.as_json else readable(lines):
            click.echo(line)
    return 0 if complete else 1


def _server(
    kube: Kube, namespace: str, request: LogsRequest
) -> tuple[ResultsClient | None, tuple[StoredRecord, ...]]:
    """The results server and what it has of the run; without it there still are pods."""
    try:
        client = reach(kube, namespace, request.server, request.service_account)
        stored, problem = stored_records(client, namespace, request.run)
    except UserError as error:
        client, stored, problem = None, (), str(error)
    if problem:
        click.echo(f"warning: the results server cannot be asked: {problem}", err=True)
    return client, stored


def _lines(
    trial: ClusterTrial, kube: Kube, client: ResultsClient | None, namespace: str
) -> list[str] | None:
    """The transcript, else what the pod prints; None: there is neither."""
    if trial.digest is not None and client is not None:
        try:
            return list(_transcript(client, records_of(namespace), trial.digest))
        except ResultsError as error:
            click.echo(f"   {error}", err=True)
    printed = kube.pod_log(namespace, trial.pod, _AGENT)
    return None if printed is None else printed.splitlines()


def _transcript(client: ResultsClient, base: str, digest: str) -> Iterator[str]:
    """Its lines; a record of a trial without an agent has none, and says so."""
    manifest = json.loads(b"".join(client.read(f"{base}/{digest}")))
    if all(part["path"] != TRANSCRIPT for part in manifest["parts"]):
        return
    content = b"".join(client.read(part_path(base, digest, TRANSCRIPT)))
    yield from content.decode(errors="replace").splitlines()
