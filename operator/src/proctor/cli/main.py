"""The command `proctor`. Commands are imported when they are called: `--help` must not wait."""

import sys
import traceback
from collections.abc import Mapping
from importlib import import_module

import click

from proctor.api.errors import UserError

_COMMANDS: Mapping[str, tuple[str, str]] = {
    "run": ("proctor.cli.run:run", "Run evaluations on this machine."),
    "validate": ("proctor.cli.validate:validate", "Find all problems in files, at once."),
    "push": ("proctor.cli.push:push", "Send a folder of tasks to a cluster."),
    "logs": ("proctor.cli.logs:logs", "Show what agents did in a run on a cluster."),
    "records": ("proctor.cli.records:records", "List or download records of a run on a cluster."),
    "version": ("proctor.cli.version:version", "Print the version."),
}
"""Name → where it is, and what it does in one line."""

_EPILOG = """\b
Examples:
  proctor validate evalrun.yaml    what is wrong with a file
  proctor run evalrun.yaml         run it; the records go to results/
  proctor run --help               all options
\b
Files to start from are in examples/, all fields in docs/reference/evalrun.md.
Exit codes: 0 passed, 1 not passed, 2 bad input, 3 broken run, 130 interrupted.
"""


class LazyGroup(click.Group):
    """A group that imports a command when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names, in the order of the help."""
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command; None when there is none of that name."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in _COMMANDS.items()])


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=_EPILOG,
)
def cli() -> None:
    """Evaluate AI agents: on this machine, with the same files as in a cluster."""


def main() -> None:
    """Entry point; ends with the exit code that the help names."""
    sys.exit(_run())


def _run() -> int:
    try:
        return cli.main(prog_name="proctor", standalone_mode=False) or 0
    except (click.Abort, KeyboardInterrupt):
        return 130
    except click.ClickException as error:
        error.show()
        return 2
    except UserError as error:
        for line in str(error).splitlines():
            click.echo(f"error: {line}", err=True)
        return 2
    except Exception:  # noqa: BLE001 - Python's own exit code 1 would say that an agent failed
        traceback.print_exc()
        return 3
