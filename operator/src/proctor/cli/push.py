"""`proctor push`: its options."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.server import push_options


@click.command()
@click.argument("path", metavar="FOLDER", type=click.Path(path_type=Path))
@push_options
@click.option("--json", "as_json", is_flag=True, help="Print digest and tasks as JSON.")
def push(**options: Any) -> int:
    """Send the tasks of a folder to a cluster, and print how an EvalRun names them.

    FOLDER holds what `proctor run FOLDER` takes: task files, EvalRuns, and the files that tasks
    name. They are checked as `proctor validate` does, then stored on the results server for one
    namespace, by content: the same folder has the same digest everywhere.
    """
    # Imported here, because --help must not wait for it.
    from proctor.cli.pushing import PushRequest, push_folder

    return push_folder(PushRequest(**options))
