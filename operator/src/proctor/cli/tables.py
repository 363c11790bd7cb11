"""What a run came to: trials, variants side by side, the gate."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from proctor.api.outcome import UNSCORED_OUTCOMES, Outcome
from proctor.api.run_status import EvalRunStatus, VariantStatus
from proctor.api.runfile import RunFile, TrialLine
from proctor.cli.words import count, duration, money, ratio

MAX_ROWS = 50
"""Above this only trials that did not pass are shown, unless all are asked for."""


def print_run(console: Console, file: RunFile, folder: Path, *, every_trial: bool) -> None:
    """Print the tables of a run and where its records are."""
    shown = _shown(file, every_trial=every_trial)
    console.print()
    console.print(_trials(file, shown))
    if len(shown) < len(file.trials):
        console.print(f"{len(file.trials) - len(shown)} more trials: --verbose, or run.json")
    console.print()
    console.print(_variants(file))
    console.print()
    console.print(_summary(file))
    if file.status.gate is not None:
        console.print(_gate(file))
    console.print(Text(f"records: {folder}"))


def _shown(file: RunFile, *, every_trial: bool) -> Sequence[TrialLine]:
    """By task and variant, in the order of the spec, whatever the order in which they ran."""
    tasks = list(dict.fromkeys(trial.task for trial in file.trials))
    variants = [variant.name for variant in file.status.variants]
    trials = sorted(
        file.trials,
        key=lambda one: (tasks.index(one.task), variants.index(one.variant), one.repeat),
    )
    if every_trial or len(trials) <= MAX_ROWS:
        return trials
    return [trial for trial in trials if trial.outcome != Outcome.PASSED][:MAX_ROWS]


def _trials(file: RunFile, shown: Sequence[TrialLine]) -> Table:
    repeated = any(trial.repeat for trial in file.trials)
    table = _table("task", "variant", *(("repeat",) if repeated else ()), "outcome")
    for name in ("score", "cost", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("first failing criterion, and why", overflow="fold", ratio=1)
    for trial in shown:
        table.add_row(
            Text(trial.task),
            trial.variant,
            *((str(trial.repeat),) if repeated else ()),
            outcome_text(trial.outcome),
            ratio(trial.score),
            _cost(file, trial),
            duration(trial.seconds),
            Text(trial.reason),
        )
    return table


def _variants(file: RunFile) -> Table:
    table = _table("variant", "agent", "model")
    incomplete = any(variant.scored < variant.total for variant in file.status.variants)
    scored = ("scored",) if incomplete else ()
    for name in ("score", "passed", *scored, "cost", "tokens", "time"):
        table.add_column(name, justify="right", no_wrap=True)
    for variant in file.status.variants:
        table.add_row(
            variant.name,
            variant.agent,
            Text(variant.model or "–"),
            ratio(variant.score),
            f"{variant.passed}/{variant.scored}",
            *((f"{variant.scored}/{variant.total}",) if incomplete else ()),
            _cost(file, variant),
            count(variant.tokens.usage().total),
            duration(_mean_seconds(file.trials, variant.name)),
        )
    return table


def _mean_seconds(trials: Sequence[TrialLine], variant: str) -> Decimal | None:
    """Mean wall time of a variant's trials; None when none is known."""
    known = [t.seconds for t in trials if t.variant == variant and t.seconds is not None]
    return sum(known, Decimal(0)) / len(known) if known else None


def _cost(file: RunFile, of: TrialLine | VariantStatus | EvalRunStatus) -> str:
    return money(of.cost_usd, of.scripted_cost_usd, complete=of.cost_complete, models=file.models)


def _summary(file: RunFile) -> Text:
    status, trials = file.status, file.status.trials
    parts = [f"{trials.passed} passed", f"{trials.failed} failed"]
    parts += [f"{trials.errored} without a score"] if trials.errored else []
    parts += [f"{trials.cancelled} cancelled"] if trials.cancelled else []
    cost = _cost(file, status)
    score = ratio(status.score)
    return Text(f"{file.name}: {', '.join(parts)} · score {score} · cost {cost} · {status.state}")


def _gate(file: RunFile) -> Text:
    why = next((c.message for c in file.status.conditions if c.type == "GatePassed"), "")
    passed = file.status.gate == "Passed"
    return Text.assemble(
        "gate: ", (file.status.gate or "", "green" if passed else "red"), f" {why}"
    )


def outcome_text(outcome: str | None) -> Text:
    """An outcome in its colour."""
    if outcome is None:
        return Text("–")
    if outcome == Outcome.PASSED:
        return Text(outcome, "green")
    return Text(outcome, "yellow" if Outcome(outcome) in UNSCORED_OUTCOMES else "red")


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold", min_width=len(column))
    return table
