"""`proctor run`: its options."""

from pathlib import Path
from typing import Any

import click

_EXAMPLES = """\b
Examples:
  proctor run evalrun.yaml
  proctor run evalrun.yaml -k 'web/*' --repeats 5 -m claude-haiku-4-5
  proctor run --resume results/RUN
"""


@click.command(context_settings={"max_content_width": 100}, epilog=_EXAMPLES)
@click.argument("paths", nargs=-1, metavar="PATH…", type=click.Path(path_type=Path))
@click.option(
    "-k",
    "--task",
    "tasks",
    multiple=True,
    metavar="PATTERN",
    help="Only these tasks, such as 'web/*'; repeatable.",
)
@click.option(
    "-t",
    "--tag",
    "tags",
    multiple=True,
    metavar="TAG",
    help="Only tasks with such a tag; repeatable.",
)
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
@click.option(
    "--repeats", type=click.IntRange(min=1), metavar="N", help="Trials of each task and variant."
)
@click.option("-m", "--model", metavar="MODEL", help="Model of all agents.")
@click.option("-T", "--agent", metavar="TYPE", help="Agent type of all trials.")
@click.option(
    "-D",
    "--set",
    "sets",
    multiple=True,
    metavar="PATH=VALUE",
    help="A field of the spec, such as limits.maxTurns=20; wins over tasks and variants.",
)
@click.option(
    "-j",
    "--parallelism",
    type=click.IntRange(min=1),
    metavar="N",
    help="Trials at the same time.  [default: the spec's, else one a CPU]",
)
@click.option("--seed", metavar="TEXT", help="Seed of the order of trials.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder for the records.  [default: results/<run>-<UTC time>]",
)
@click.option(
    "--resume",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="FOLDER",
    help="Run only the trials of this folder that have no score.",
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Ask providers, and write what they answer to this cassette.",
)
@click.option(
    "--replay",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    metavar="FILE",
    help="Answer from this cassette instead of asking providers.",
)
@click.option(
    "--container",
    is_flag=True,
    help="Run agents and checks in containers of their tasks' images, without a network.",
)
@click.option(
    "--engine",
    type=click.Choice(["podman", "docker"]),
    help="Container engine.  [default: the first that is installed]",
)
@click.option(
    "--runner-image",
    metavar="IMAGE",
    help="Image with Proctor's runner for containers.  [default: proctor/runner:VERSION]",
)
@click.option(
    "--allow-image-user",
    is_flag=True,
    help="Let containers of sandbox.user: Image run as what their image says, root included.",
)
@click.option("--keep-workspaces", is_flag=True, help="Keep workspaces of trials that passed, too.")
@click.option("--json", "as_json", is_flag=True, help="Print run.json instead of tables.")
@click.option("-q", "--quiet", is_flag=True, help="Only the tables, or the JSON.")
@click.option("-v", "--verbose", is_flag=True, help="Every criterion of every trial.")
def run(**options: Any) -> int:
    """Run evaluations on this machine.

    PATH is an EvalRun manifest, a task file in Coder Eval's format, or a folder of them.
    Keys of model providers are read from the usual environment variables, such as
    ANTHROPIC_API_KEY and OPENAI_API_KEY; no agent sees them.
    """
    # Imported here, because --help must not wait for it.
    from proctor.cli.running import RunRequest, run_paths

    return run_paths(RunRequest(**options))
