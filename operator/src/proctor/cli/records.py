"""`proctor records`: its options."""

from pathlib import Path
from typing import Any

import click

from proctor.cli.server import server_options


@click.command()
@click.argument("run")
@click.argument("trials", nargs=-1, metavar="[TRIAL…]")
@server_options
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Download into this folder, one folder a trial.",
)
def records(**options: Any) -> int:
    """List or download the records of a run on a cluster.

    What is downloaded was checked against its digest, and is what `proctor run` leaves in a
    trial's `record/`.
    """
    # Imported here, because --help must not wait for it.
    from proctor.cli.fetching import RecordsRequest, fetch_records

    return fetch_records(RecordsRequest(**options))
