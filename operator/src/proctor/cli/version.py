"""`proctor version`."""

import click

from proctor import __version__


@click.command()
def version() -> None:
    """Print the version."""
    click.echo(f"proctor {__version__}")
