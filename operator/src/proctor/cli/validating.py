"""What `proctor validate` does."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from proctor.local.exit_code import BAD_INPUT, PASSED
from proctor.local.loading import examine
from proctor.local.overrides import Flags
from proctor.planning.size import size_problem


def validate_paths(paths: Sequence[Path], *, server_side: bool, as_json: bool) -> int:
    """Print every problem of every file, and say how many there are."""
    found = examine(paths, Flags())
    sizes = [size_problem(source, server_side=server_side) for source in found.sources]
    problems = sorted(
        [*found.problems, *filter(None, sizes)],
        key=lambda p: (p.file or "", p.line or 0, p.field),
    )
    if as_json:
        body = {
            "problems": [asdict(problem) for problem in problems],
            "warnings": [asdict(warning) for warning in found.warnings],
        }
        click.echo(json.dumps(body, indent=2, ensure_ascii=False))
    else:
        for warning in found.warnings:
            click.echo(f"warning: {warning}", err=True)
        for problem in problems:
            click.echo(str(problem))
        click.echo(_summary(len(problems), len(found.runs), found.trials), err=True)
    return BAD_INPUT if problems else PASSED


def _summary(problems: int, runs: int, trials: int) -> str:
    if problems:
        return f"{problems} problem{'s' if problems > 1 else ''}"
    return f"no problems: {runs} run{'s' if runs > 1 else ''}, {trials} trials"
