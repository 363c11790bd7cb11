import io
from decimal import Decimal
from pathlib import Path

from rich.console import Console

from proctor.api.conditions import Condition
from proctor.api.run_status import EvalRunStatus, TokenCounts, TrialCounts, VariantStatus
from proctor.api.runfile import RunFile, TrialLine
from proctor.cli.reporting import standing
from proctor.cli.tables import MAX_ROWS, print_run
from proctor.engine.model import TrialId
from proctor.local.progress import Progress


def a_line(task="hello", outcome="Passed", **changes):
    fields = {
        "task": task,
        "variant": "base",
        "repeat": 0,
        "agent": "mini",
        "outcome": outcome,
        "score": Decimal(1) if outcome == "Passed" else Decimal(0),
        "cost_usd": Decimal("0.02"),
        "seconds": Decimal("2.5"),
    }
    return TrialLine(**{**fields, **changes})


def a_file(*lines, **status):
    fields = {
        "state": "Complete",
        "trials": TrialCounts(total=len(lines), passed=len(lines)),
        "variants": (
            VariantStatus(
                name="base",
                agent="mini",
                total=2,
                scored=2,
                passed=1,
                score=Decimal("0.5"),
                pass_ratio=Decimal("0.5"),
                cost_usd=Decimal("0.04"),
                tokens=TokenCounts(input=1000, output=234),
            ),
        ),
    }
    return RunFile(
        producer="test",
        name="run",
        suite="run",
        uid="1",
        fingerprint="f",
        status=EvalRunStatus(**{**fields, **status}),
        trials=lines,
    )


def printed(file, every_trial=False):
    console = Console(file=io.StringIO(), width=140)
    print_run(console, file, Path("/records"), every_trial=every_trial)
    return console.file.getvalue()


def test_failing_trial_says_why():
    text = printed(a_file(a_line(outcome="Failed", reason="greets: stdout is 'x'")))
    assert "greets: stdout is 'x'" in text
    assert "records: /records" in text


def test_text_of_agents_is_no_markup():
    assert "[red]x[/red]" in printed(a_file(a_line(outcome="Failed", reason="[red]x[/red]")))


def test_repeats_are_shown_only_where_there_are_several():
    once = printed(a_file(a_line()))
    twice = printed(a_file(a_line(), a_line(repeat=1)))
    assert ("repeat" in once, "repeat" in twice) == (False, True)


def test_what_has_no_score_shows_no_zero():
    line = a_line(outcome="GraderError", score=None, cost_usd=None, seconds=None)
    row = next(row for row in printed(a_file(line)).splitlines() if "GraderError" in row)
    assert row.split() == ["hello", "base", "GraderError", "–", "–", "–"]


def test_variants_stand_side_by_side_with_money_tokens_and_time():
    rows = printed(a_file(a_line(), a_line("b", seconds=Decimal("3.5")))).splitlines()
    row = next(row for row in rows if row.startswith("base"))
    assert " ".join(row.split()) == "base mini – 0.500 1/2 $0.0400 1,234 3.0s"


def test_variant_with_missing_scores_says_how_many_there_are():
    variant = VariantStatus(name="base", agent="mini", total=4, scored=2, passed=1)
    text = printed(a_file(a_line(), variants=(variant,)))
    row = next(row for row in text.splitlines() if row.startswith("base"))
    assert ("scored" in text, row.split()[4:6]) == (True, ["1/2", "2/4"])


def test_gate_gives_its_reason():
    condition = Condition(
        type="GatePassed",
        status="False",
        reason="PassThresholdMissed",
        message="score is 0.5",
        last_transition_time="2026-01-31T12:00:00Z",
    )
    assert "gate: Failed score is 0.5" in printed(
        a_file(a_line(), gate="Failed", conditions=(condition,))
    )


def test_large_run_shows_what_did_not_pass_unless_all_is_asked_for():
    lines = [a_line(f"task-{number}") for number in range(MAX_ROWS + 1)]
    file = a_file(*lines, a_line("bad", outcome="Failed"))
    short, long = printed(file), printed(file, every_trial=True)
    assert ("task-7 " in short, "bad" in short, "task-7 " in long) == (False, True, True)
    assert f"{MAX_ROWS + 1} more trials" in short


def test_trial_that_never_ended_has_no_outcome():
    row = next(
        row
        for row in printed(a_file(a_line(outcome=None, score=None))).splitlines()
        if row.startswith("hello")
    )
    assert row.split()[:4] == ["hello", "base", "–", "–"]


def test_live_line_counts_what_runs_and_what_it_costs():
    status = EvalRunStatus(trials=TrialCounts(total=9, pending=4, passed=2, failed=1, errored=1))
    progress = Progress(
        status, Decimal("0.5"), None, 12_345, (TrialId("a", "b", 0), TrialId("a", "b", 1))
    )
    assert standing(progress).plain == (
        "2 running · 2 passed · 1 failed · 4 pending · 1 without a score · "
        "$0.5000 · 0 calls · 12,345 tokens"
    )
