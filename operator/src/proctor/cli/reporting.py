"""How a run is shown while it goes on: lines on standard error, and a live one on a terminal."""

import shlex
from pathlib import Path

import click
from rich.console import Console
from rich.live import Live
from rich.text import Text

from proctor.api.evaltrial import EvalTrialStatus
from proctor.api.runfile import RunFile
from proctor.cli.tables import outcome_text, print_run
from proctor.cli.words import count, money, ratio, trial_name
from proctor.engine.model import TrialId
from proctor.local.progress import Progress


class LineReporter:
    """One line a trial that ends, the tables at the end.

    Args:
        progress: For what goes on; standard error, or silent.
        results: For the tables; standard output, or silent.
    """

    def __init__(self, progress: Console, results: Console, *, verbose: bool = False) -> None:
        self._progress, self._results, self._verbose = progress, results, verbose
        self._ended = 0
        self._total = 0

    def started(self, name: str, folder: Path, total: int, kept: int) -> None:
        """Say which run starts and where its records go."""
        self._ended, self._total = kept, total
        kept_text = f", {kept} of them have a verdict already" if kept else ""
        self._progress.print(
            Text(f"{name}: {total} trials{kept_text}, records in {folder}"), soft_wrap=True
        )

    def trial_ended(self, trial: TrialId, status: EvalTrialStatus, progress: Progress) -> None:
        """One line, and one a criterion when verbose."""
        self._ended += 1
        self._progress.print(self._line(trial, status, progress), soft_wrap=True)
        if self._verbose:
            for one in status.criteria:
                mark = "passed" if one.passed else "did not pass"
                self._progress.print(
                    Text(f"      {one.name}: {ratio(one.score)}, {mark}"), soft_wrap=True
                )

    def progressed(self, progress: Progress) -> None:
        """Nothing: lines are for what has ended."""

    def interrupted(self) -> None:
        """Say that it was understood."""
        self._progress.print("stopping all trials; once more to end them at once", soft_wrap=True)

    def ended(self, file: RunFile, folder: Path) -> None:
        """Print the tables."""
        print_run(self._results, file, folder, every_trial=self._verbose)

    def failed(self, name: str, folder: Path, reason: str) -> None:
        """Say why, and how to go on; also when nothing else is shown."""
        click.echo(f"error: {name}: {reason}", err=True)
        click.echo(f"error: {name}: go on with --resume {shlex.quote(str(folder))}", err=True)

    def close(self) -> None:
        """Leave the terminal as it was, also when a run ended by an error."""

    def _line(self, trial: TrialId, status: EvalTrialStatus, progress: Progress) -> Text:
        cost = money(
            status.cost_usd,
            status.scripted_cost_usd,
            complete=status.cost_complete,
            models=progress.models,
        )
        text = Text(f"[{self._ended}/{self._total}] {trial_name(trial.task, trial.variant)} ")
        text.append(f"· {trial.repeat} " if trial.repeat else "")
        text.append_text(outcome_text(status.outcome))
        text.append(f" {ratio(status.score)} {cost}")
        text.append(f": {status.reason}" if status.reason else "")
        return text


class LiveReporter(LineReporter):
    """The same on a terminal, with a line at the bottom that says how things stand."""

    def __init__(self, progress: Console, results: Console, *, verbose: bool = False) -> None:
        super().__init__(progress, results, verbose=verbose)
        self._live: Live | None = None

    def started(self, name: str, folder: Path, total: int, kept: int) -> None:
        """Begin the live line."""
        super().started(name, folder, total, kept)
        self._live = Live(console=self._progress, refresh_per_second=4, transient=True)
        self._live.start()

    def progressed(self, progress: Progress) -> None:
        """Renew the live line."""
        if self._live is not None:
            self._live.update(standing(progress))

    def ended(self, file: RunFile, folder: Path) -> None:
        """End the live line, then print the tables."""
        self.close()
        super().ended(file, folder)

    def close(self) -> None:
        """End the live line."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def standing(progress: Progress) -> Text:
    """Running, passed, failed, pending; money and tokens so far."""
    trials = progress.status.trials
    parts = [
        f"{len(progress.running)} running",
        f"{trials.passed} passed",
        f"{trials.failed} failed",
        f"{trials.pending} pending",
        *([f"{trials.errored} without a score"] if trials.errored else []),
        _so_far(progress),
        f"{count(progress.calls)} calls",
        f"{count(progress.tokens)} tokens",
    ]
    return Text(" · ".join(parts), "dim")


def _so_far(progress: Progress) -> str:
    spent = money(progress.cost_usd, progress.scripted_cost_usd, models=progress.models)
    return spent if progress.budget_usd is None else f"{spent} of {money(progress.budget_usd)}"
