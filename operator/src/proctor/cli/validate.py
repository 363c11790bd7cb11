"""`proctor validate`: its options."""

from pathlib import Path

import click


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH…", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the problems as JSON.")
def validate(paths: tuple[Path, ...], as_json: bool) -> int:
    """Find all problems in manifests and task files, at once.

    One line each: file:line: field: what is wrong (what to write instead). Exits 2 when there
    are any.
    """
    # Imported here, because --help must not wait for it.
    from proctor.cli.validating import validate_paths

    return validate_paths(paths, as_json=as_json)
