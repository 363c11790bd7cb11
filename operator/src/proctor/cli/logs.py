"""`proctor logs`: its options."""

from typing import Any

import click

from proctor.cli.server import server_options


@click.command()
@click.argument("run")
@click.argument("trials", nargs=-1, metavar="[TRIAL…]")
@server_options
@click.option("--json", "as_json", is_flag=True, help="Print the transcript's events as they are.")
def logs(**options: Any) -> int:
    """Show what agents did in a run on a cluster, also after their pods are gone.

    TRIAL is an EvalTrial's name, a task, or task/variant/repeat; * stands for any text. Of a trial
    with a record the transcript is shown, of one that runs what its container prints.
    """
    # Imported here, because --help must not wait for it.
    from proctor.cli.showing import LogsRequest, show_logs

    return show_logs(LogsRequest(**options))
