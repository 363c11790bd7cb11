"""The phase ``grade`` from its command line to verdict and record, as a real process."""

import hashlib
import json
import shutil
from dataclasses import replace
from decimal import Decimal

import pytest

from builders_runner import (
    agent_orders,
    checks_orders,
    file_exists,
    grade_orders,
    run_command,
    some_commands,
)
from proctor.api.orders import CriterionOrder
from proctor.api.outcome import Outcome
from proctor.api.record_folder import read_record
from proctor.api.report import AgentReport
from proctor.api.termination import MAX_BYTES
from proctor.api.usage import Bill, Usage


def leave_agent_evidence(folders, report=None, **changes):
    """Write ``agent.json`` as the phase would, with changes that hostile code might make."""
    body = (report or AgentReport("completed", started=True, turns=2, seconds=1.5)).to_json()
    folders.workspace.mkdir()
    folders.agent_evidence.mkdir()
    (folders.agent_evidence / "agent.json").write_text(json.dumps({**body, **changes}))


def test_verdict_is_written_into_the_file_that_is_there_and_stands_for_the_record(folders):
    leave_agent_evidence(folders)
    folders.verdict_file.write_bytes(b"x" * 5000)
    before = folders.verdict_file.stat().st_ino

    assert folders.grade(grade_orders(file_exists("a"))).code == 0

    assert folders.verdict_file.stat().st_ino == before
    assert folders.verdict_file.stat().st_size <= MAX_BYTES
    verdict = folders.verdict()
    assert (verdict.trial_uid, verdict.attempt, verdict.outcome) == ("u-1", 1, Outcome.FAILED)
    assert (verdict.agent_ms, verdict.checks_ms) == (1500, None)
    manifest = (folders.record / "manifest.json").read_bytes()
    assert verdict.digest == hashlib.sha256(manifest).hexdigest()


def test_each_verdict_is_a_line_of_the_log(folders):
    leave_agent_evidence(folders)
    (folders.workspace / "a").touch()

    ended = folders.grade(grade_orders(file_exists("a"), file_exists("b")))

    lines = [json.loads(line) for line in ended.out.splitlines()]
    assert [(line["name"], line["score"], line["passed"]) for line in lines] == [
        ("exists a", 1.0, True),
        ("exists b", 0.0, False),
    ]


def test_a_slow_gateway_takes_no_time_away_from_the_criteria(folders, gateway):
    # The limit ran from before the ledger was asked for: a gateway that took its time made every
    # criterion a 0, "the time for grading was used up".
    leave_agent_evidence(folders)
    (folders.workspace / "a").touch()
    url = gateway(Bill(), failures=2)

    ended = folders.grade(grade_orders(file_exists("a"), timeout_seconds=1), "--gateway", url)

    assert (ended.code, folders.verdict().outcome) == (0, Outcome.PASSED)


def test_scripted_calls_cost_nothing_also_when_the_gateway_does_not_answer(folders, gateway):
    leave_agent_evidence(folders)
    orders = grade_orders(file_exists("a"), context={"models": "Scripted"})

    folders.grade(orders, "--gateway", gateway(Bill(), key="another"))

    bill = folders.verdict().bill
    assert (bill.mode, bill.cost_usd, bill.cost_complete) == ("Scripted", None, False)


def test_record_holds_all_that_the_attempt_left(folders, gateway):
    entry = {"model": "m", "usage": {"input": 10}}
    bill = Bill(calls=1, usage=Usage(input=10), cost_usd=Decimal("0.02"))
    url = gateway(bill, [entry])
    folders.agent(agent_orders("true"))
    folders.checks(checks_orders(some_commands("true")))
    orders = grade_orders(run_command("true"), lineage={"prompt": "task"})

    assert folders.grade(orders, "--gateway", url).code == 0

    record = read_record(folders.record, folders.verdict().digest)
    assert [part.path for part in record.manifest.parts] == [
        "evidence/checks.json",
        "execution.json",
        "grading/1.json",
        "ledger.jsonl",
        "transcript.jsonl",
    ]
    assert (record.execution.trial.task, record.execution.context["suite"]) == ("t", "s")
    assert record.execution.lineage == {"prompt": "task"}
    assert record.execution.bill.cost_usd == Decimal("0.02")
    (grading,) = record.gradings
    assert (grading.outcome, grading.score) == ("Passed", 1)
    assert grading.criteria[0].evidence == "beside-agent"


def test_bill_comes_from_the_gateway_with_the_judges_key(folders, gateway, tmp_path):
    leave_agent_evidence(folders)
    key = tmp_path / "key"
    key.write_text("judge-key\n")
    url = gateway(Bill(calls=3, usage=Usage(5, 6, 7, 8), cost_usd=Decimal("1.5")), key="judge-key")

    folders.grade(grade_orders(file_exists("a")), "--gateway", url, "--key-file", str(key))

    bill = folders.verdict().bill
    assert (bill.calls, bill.usage, bill.cost_usd) == (3, Usage(5, 6, 7, 8), Decimal("1.5"))


def test_budget_that_ended_overrides_a_pass(folders, gateway):
    leave_agent_evidence(folders)
    (folders.workspace / "a").touch()
    url = gateway(Bill(calls=1, refused="maxUsd"))

    folders.grade(grade_orders(file_exists("a")), "--gateway", url)

    assert folders.verdict().outcome is Outcome.COST_BUDGET_EXCEEDED


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda folder: shutil.rmtree(folder), id="missing-folder"),
        pytest.param(lambda folder: (folder / "agent.json").unlink(), id="missing"),
        pytest.param(lambda folder: (folder / "agent.json").write_text("{"), id="broken"),
        pytest.param(lambda folder: (folder / "agent.json").write_text("[]"), id="other-shape"),
        pytest.param(lambda folder: (folder / "agent.json").write_text("[" * 90_000), id="deep"),
        pytest.param(lambda folder: (folder / "agent.json").write_bytes(b" " * 2**21), id="large"),
        pytest.param(lambda folder: replace_by_link(folder), id="symlink"),
    ],
)
def test_evidence_of_the_agent_that_cannot_be_read_is_the_agents_zero(folders, spoil):
    leave_agent_evidence(folders)
    (folders.workspace / "a").touch()
    spoil(folders.agent_evidence)

    assert folders.grade(grade_orders(file_exists("a"))).code == 0

    verdict = folders.verdict()
    assert (verdict.outcome, verdict.score) == (Outcome.AGENT_ERROR, 0)
    assert "no evidence" in verdict.reason
    assert verdict.agent_ms is None


def replace_by_link(folder):
    (folder / "agent.json").rename(folder.parent / "real.json")
    (folder / "agent.json").symlink_to(folder.parent / "real.json")


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"status": "not_run"}, id="claims-that-it-did-not-run"),
        pytest.param({"status": "setup_failed"}, id="claims-a-failed-setup-after-it-started"),
        pytest.param({"status": "Passed"}, id="claims-an-outcome"),
        pytest.param({"status": ["x"]}, id="status-of-another-type"),
    ],
)
def test_claims_that_cannot_be_true_are_the_agents_zero(folders, changes):
    leave_agent_evidence(folders, **changes)
    (folders.workspace / "a").touch()

    assert folders.grade(grade_orders(file_exists("a"))).code == 0

    assert (folders.verdict().outcome, folders.verdict().score) == (Outcome.AGENT_ERROR, 0)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"turns": 10**400}, id="huge-number"),
        pytest.param({"seconds": float("nan")}, id="nan"),
        pytest.param({"reason": "\ud800" + "é\x1b[2J" * 100_000}, id="text-that-is-no-utf8"),
        pytest.param({"pre_run": []}, id="nothing"),
        pytest.param(
            {"pre_run": [{"command": 1, "exit_code": "x", "output": [], "seconds": "y"}]},
            id="pre-run-of-other-types",
        ),
    ],
)
def test_absurd_values_in_claims_keep_no_verdict_from_being_written(folders, changes):
    leave_agent_evidence(folders, **changes)

    ended = folders.grade(grade_orders(file_exists("a")))

    assert ended.code == 0, ended.err
    assert folders.verdict().outcome in (Outcome.FAILED, Outcome.AGENT_ERROR)
    assert folders.verdict_file.stat().st_size <= MAX_BYTES


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(None, id="missing"),
        pytest.param("{", id="broken"),
        pytest.param('{"results": {"0": [{"exit_code": 0}]}}', id="other-shape"),
        pytest.param("[" * 1_000_000, id="deep"),
    ],
)
def test_evidence_of_the_checks_that_cannot_be_read_is_the_agents_zero(folders, text):
    leave_agent_evidence(folders)
    (folders.workspace / "a").touch()
    folders.checks_evidence.mkdir()
    if text is not None:
        (folders.checks_evidence / "checks.json").write_text(text)

    assert folders.grade(grade_orders(run_command("true"), file_exists("a"))).code == 0

    verdict = folders.verdict()
    assert (verdict.outcome, verdict.scores) == (Outcome.FAILED, (0, 1))


def test_results_that_the_checks_owe_and_did_not_leave_score_zero(folders):
    leave_agent_evidence(folders)
    folders.home.mkdir()
    folders.checks(checks_orders(some_commands("true", index=5)))

    folders.grade(grade_orders(run_command("true")))

    assert folders.verdict().scores == (0,)
    assert "0 of 1 command results" in folders.verdict().reason


def test_setup_that_failed_is_no_zero_of_the_agent(folders):
    leave_agent_evidence(folders, AgentReport("setup_failed", "preRun 'x': exit code 4"))

    folders.grade(grade_orders(file_exists("a")))

    verdict = folders.verdict()
    assert (verdict.outcome, verdict.score, verdict.scores) == (Outcome.INFRA_FAILED, None, (None,))
    assert "exit code 4" in verdict.reason
    assert verdict.agent_ms is None


@pytest.mark.parametrize("has_evidence", [True, False], ids=["evidence", "no-evidence"])
def test_without_an_agent_the_workspace_is_graded_and_nothing_was_spent(folders, has_evidence):
    leave_agent_evidence(folders, AgentReport("not_run"))
    (folders.workspace / "a").touch()
    if not has_evidence:
        shutil.rmtree(folders.agent_evidence)

    folders.grade(grade_orders(file_exists("a"), agent_runs=False))

    verdict = folders.verdict()
    assert (verdict.outcome, verdict.score, verdict.agent_ms) == (Outcome.PASSED, 1, None)
    assert (verdict.bill.cost_usd, verdict.bill.cost_complete) == (0, True)


def test_missing_checks_without_an_agent_are_our_fault(folders):
    leave_agent_evidence(folders, AgentReport("not_run"))

    folders.grade(grade_orders(run_command("true"), agent_runs=False))

    assert (folders.verdict().outcome, folders.verdict().score) == (Outcome.GRADER_ERROR, None)


def test_regex_that_never_ends_scores_zero_and_the_other_criteria_are_judged(folders):
    leave_agent_evidence(folders)
    (folders.workspace / "a").write_text("a" * 60 + "b")
    endless = CriterionOrder(
        "file_matches_regex", "endless", 1.0, 0.9, {"path": "a", "pattern": "(a+)+$"}
    )
    orders = replace(grade_orders(endless, file_exists("a")), timeout_seconds=4)

    assert folders.grade(orders).code == 0

    verdict = folders.verdict()
    assert verdict.scores[0] == 0
    assert "limit" in verdict.reason
    assert verdict.outcome is Outcome.FAILED


def test_criterion_that_cannot_be_judged_is_unscored_and_the_others_are_kept(folders):
    leave_agent_evidence(folders)
    (folders.workspace / "a").touch()
    unknown = CriterionOrder("no_such_type", "unknown", 1.0, 0.9, {})

    assert folders.grade(grade_orders(unknown, file_exists("a"))).code == 0

    verdict = folders.verdict()
    assert (verdict.outcome, verdict.score, verdict.scores) == (
        Outcome.GRADER_ERROR,
        None,
        (None, 1),
    )
    assert "no_such_type" in verdict.reason


def test_fifty_criteria_with_crooked_scores_fit_into_the_verdict(folders):
    leave_agent_evidence(folders)
    names = [f"c{number}" for number in range(50)]
    (folders.workspace / "a").write_text("one")
    options = {"path": "a", "includes": ["one", "two", "three"]}
    criteria = [CriterionOrder("file_contains", name, 1.0, 0.9, options) for name in names]

    ended = folders.grade(grade_orders(*criteria))

    assert ended.code == 0, ended.err
    assert folders.verdict_file.stat().st_size <= MAX_BYTES
    assert len(folders.verdict().scores) == 50


def test_record_folder_that_is_used_is_refused(folders):
    leave_agent_evidence(folders)
    folders.record.mkdir()
    (folders.record / "old").touch()

    ended = folders.grade(grade_orders(file_exists("a")))

    assert ended.code == 1
    assert "is used already" in ended.err
    assert not folders.verdict_file.exists()
