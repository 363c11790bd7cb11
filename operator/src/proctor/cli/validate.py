"""`proctor validate`: its options."""

from pathlib import Path

import click


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…", type=click.Path(path_type=Path))
@click.option(
    "--server-side", is_flag=True, help="Runs will be applied with kubectl apply --server-side."
)
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON.")
def validate(paths: tuple[Path, ...], server_side: bool, as_json: bool) -> int:
    """Find all problems in manifests and task files, at once.

    One line each: file:line: field: what is wrong (what to write instead). Exits 2 when there
    are any.
    """
    # Imported here, because --help must not wait for it.
    from proctor.cli.validating import validate_paths

    return validate_paths(paths, server_side=server_side, as_json=as_json)
