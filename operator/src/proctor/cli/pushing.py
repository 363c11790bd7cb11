"""What `proctor push` does."""

import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from proctor.api.errors import UserError
from proctor.api.record import RecordManifest
from proctor.api.results import bundles_of, written_digest
from proctor.cli.kube import connect, current_namespace
from proctor.cli.server import WRITER, reach
from proctor.controller.orders import pack_orders
from proctor.local.bundling import PackedTasks, pack_tasks
from proctor.planning.bundle import Bundle
from proctor.store.client import ResultsClient, ResultsError


@dataclass(frozen=True, slots=True)
class PushRequest:
    """The command's options."""

    path: Path
    namespace: str | None
    server: str
    service_account: str
    as_json: bool


def push_folder(request: PushRequest) -> int:
    """Check, pack and send a folder's tasks, and print how an EvalRun names them.

    Raises:
        UserError: Something is wrong with the tasks, or they are not stored.
    """
    tasks = pack_tasks(request.path)
    for run in tasks.runs:
        # As the operator lays them into ConfigMaps: what fits into none is refused here already.
        pack_orders(run.plan, "", run.source.name, "", {})
    for warning in tasks.warnings:
        click.echo(f"warning: {warning}", err=True)
    kube = connect()
    namespace = request.namespace or current_namespace()
    client = reach(kube, namespace, request.server, request.service_account, WRITER)
    _send(client, namespace, tasks.bundle)
    click.echo(_as_json(tasks, namespace) if request.as_json else _as_text(tasks))
    if not request.as_json:
        size = -(-tasks.bundle.size_bytes // 1024)
        said = f"{len(tasks.tasks)} tasks, {size} KiB, are in namespace {namespace}"
        click.echo(said, err=True)
    return 0


def _send(client: ResultsClient, namespace: str, bundle: Bundle) -> None:
    manifest = RecordManifest.model_validate_json(bundle.manifest)
    with tempfile.TemporaryDirectory(prefix="proctor-push-") as folder:
        files = {part.sha256: Path(folder, part.path) for part in manifest.parts}
        for part in manifest.parts:
            files[part.sha256].write_bytes(bundle.parts[part.path])
        try:
            client.send_folder(bundles_of(namespace), bundle.digest, bundle.manifest, files)
        except ResultsError as error:
            raise UserError(f"the results server did not take the bundle: {error}") from error


def _as_text(tasks: PackedTasks) -> str:
    digest = written_digest(tasks.bundle.digest)
    return f'{digest}\n\ntasksFrom:\n- bundle: {{digest: "{digest}"}}'


def _as_json(tasks: PackedTasks, namespace: str) -> str:
    body = {
        "digest": written_digest(tasks.bundle.digest),
        "namespace": namespace,
        "sizeBytes": tasks.bundle.size_bytes,
        "tasks": tasks.tasks,
    }
    return json.dumps(body, indent=2, ensure_ascii=False)
