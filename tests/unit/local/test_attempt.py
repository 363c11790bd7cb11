import errno
import json
import stat
from pathlib import Path

import pytest

from builders_local import (
    CHECKED,
    FakeGateway,
    FakePhases,
    a_local_attempt,
    argument,
    ending,
    grading,
)
from proctor.api.outcome import FailureClass
from proctor.api.termination import TrialVerdict
from proctor.engine.model import Failure
from proctor.local.attempt import run_attempt
from proctor.local.files import remove_tree
from proctor.local.phases import PhaseEnd


async def test_phases_follow_each_other_and_end_in_the_verdict(tmp_path):
    phases = FakePhases()
    end = await run_attempt(a_local_attempt(tmp_path, tasks=[CHECKED]), phases, FakeGateway())
    assert phases.names == ["agent", "checks", "grade"]
    assert isinstance(end, TrialVerdict)


async def test_without_commands_there_are_no_checks(tmp_path):
    phases = FakePhases()
    await run_attempt(a_local_attempt(tmp_path), phases, FakeGateway())
    assert phases.names == ["agent", "grade"]
    assert "--checks-evidence" not in phases.orders[-1].arguments


async def test_agents_phase_finds_no_hidden_orders_and_no_judges_key(tmp_path):
    seen = {}

    def agent(order):
        private = Path(argument(order, "--orders")).parent
        seen.update({path.name: path.read_text() for path in private.iterdir()})
        return PhaseEnd(0)

    phases = FakePhases({"agent": agent})
    await run_attempt(a_local_attempt(tmp_path, tasks=[CHECKED]), phases, FakeGateway())
    assert set(seen) == {"agent.json", "key"}
    assert seen["key"] == "agent-uid-0-1"


async def test_keys_and_orders_are_the_users_alone_and_gone_in_the_end(tmp_path):
    modes = []

    def grade(order):
        for name in ("--orders", "--key-file"):
            modes.append(stat.S_IMODE(Path(argument(order, name)).stat().st_mode))
        return grading()(order)

    attempt = a_local_attempt(tmp_path)
    await run_attempt(attempt, FakePhases({"grade": grade}), FakeGateway())
    assert modes == [0o600, 0o600]
    assert not attempt.places.private.exists()


async def test_checks_work_where_the_agent_did_and_grade_sees_what_it_left(tmp_path):
    found = {}

    def agent(order):
        Path(argument(order, "--workspace"), "made.txt").write_text("by the agent")
        Path(argument(order, "--home"), "tool").write_text("installed")
        return PhaseEnd(0)

    def checks(order):
        found["workspace"] = list(Path(argument(order, "--workspace")).iterdir())
        found["frozen"] = Path(argument(order, "--frozen-workspace"), "made.txt").read_text()
        source, _, target = argument(order, "--frozen").partition("=")
        found["home"] = (Path(source, "tool").read_text(), target)
        Path(argument(order, "--workspace"), "made.txt").write_text("by a check")
        return PhaseEnd(0)

    def grade(order):
        found["graded"] = Path(argument(order, "--workspace"), "made.txt").read_text()
        return grading()(order)

    phases = FakePhases({"agent": agent, "checks": checks, "grade": grade})
    await run_attempt(a_local_attempt(tmp_path, tasks=[CHECKED]), phases, FakeGateway())
    agent_order, checks_order, _ = phases.orders
    assert argument(checks_order, "--workspace") == argument(agent_order, "--workspace")
    assert found == {
        "workspace": [],
        "frozen": "by the agent",
        "home": ("installed", argument(agent_order, "--home")),
        "graded": "by the agent",
    }


async def test_checks_in_place_work_in_what_the_agent_left_and_grade_sees_it_as_it_was(tmp_path):
    found = {}

    def agent(order):
        Path(argument(order, "--workspace"), "made.txt").write_text("by the agent")
        return PhaseEnd(0)

    def checks(order):
        found["copied"] = "--frozen" in order.arguments or "--frozen-workspace" in order.arguments
        made = Path(argument(order, "--workspace"), "made.txt")
        found["checked"] = made.read_text()
        made.write_text("by a check")
        return PhaseEnd(0)

    def grade(order):
        found["graded"] = Path(argument(order, "--workspace"), "made.txt").read_text()
        return grading()(order)

    phases = FakePhases({"agent": agent, "checks": checks, "grade": grade})
    attempt = a_local_attempt(tmp_path, tasks=[CHECKED], sandbox={"checks": "InPlace"})
    await run_attempt(attempt, phases, FakeGateway())
    assert found == {"copied": False, "checked": "by the agent", "graded": "by the agent"}


async def test_agent_type_none_gets_no_key(tmp_path):
    gateway, phases = FakeGateway(), FakePhases()
    task = {"name": "hello", "criteria": [{"type": "file_exists", "path": "a"}]}
    attempt = a_local_attempt(tmp_path, agent={"type": "none"}, tasks=[task])
    await run_attempt(attempt, phases, gateway)
    assert gateway.admitted == []
    assert all("--key-file" not in order.arguments for order in phases.orders)


async def test_agent_without_egress_gets_no_key_and_grade_keeps_its_own(tmp_path):
    phases = FakePhases()
    attempt = a_local_attempt(
        tmp_path,
        agent={"type": "command", "options": {"command": "true"}},
        sandbox={"egress": {"mode": "None"}},
    )
    await run_attempt(attempt, phases, FakeGateway())
    has_key = {order.name: "--key-file" in order.arguments for order in phases.orders}
    assert (has_key["agent"], has_key["grade"]) == (False, True)


async def test_attempt_starts_from_nothing(tmp_path):
    attempt = a_local_attempt(tmp_path)
    attempt.places.workspace.mkdir(parents=True)
    (attempt.places.workspace / "old.txt").write_text("of an attempt before")
    attempt.places.record.mkdir()
    (attempt.places.record / "manifest.json").write_text("{}")
    left = []

    def agent(order):
        left.extend(Path(argument(order, "--workspace")).iterdir())
        return PhaseEnd(0)

    await run_attempt(attempt, FakePhases({"agent": agent}), FakeGateway())
    assert left == []
    assert not attempt.places.record.exists()


@pytest.mark.parametrize(
    ("phase", "end", "failure_class", "reason"),
    [
        pytest.param("agent", ending(3, "no room"), "infra", "AgentNotStarted", id="not-started"),
        pytest.param("agent", ending(137), "task", "AgentEnded", id="agent-killed-its-runner"),
        pytest.param("agent", ending(1, "oops"), "task", "AgentEnded", id="not-shown-to-be-ours"),
        pytest.param(
            "agent", ending(137, timed_out=True), "task", "DeadlineExceeded", id="backstop"
        ),
        pytest.param("checks", ending(3), "infra", "ChecksNotStarted", id="checks-not-started"),
        pytest.param("checks", ending(137), "task", "ChecksEnded", id="checks-killed"),
        pytest.param("grade", ending(1, "broken"), "grader", "GradeFailed", id="grade-broke"),
        pytest.param("grade", ending(0), "grader", "NoVerdict", id="no-verdict-is-no-zero"),
        pytest.param(
            "grade", grading(trial_uid="other"), "grader", "NoVerdict", id="of-another-trial"
        ),
        pytest.param("grade", grading(attempt=7), "grader", "NoVerdict", id="of-another-attempt"),
    ],
)
async def test_phase_that_fails_says_whose_fault_it_was(
    tmp_path, phase, end, failure_class, reason
):
    attempt = a_local_attempt(tmp_path, tasks=[CHECKED])
    result = await run_attempt(attempt, FakePhases({phase: end}), FakeGateway())
    assert isinstance(result, Failure)
    assert (result.failure_class, result.reason) == (FailureClass(failure_class), reason)


async def test_failure_quotes_what_the_phase_said_last(tmp_path):
    phases = FakePhases({"grade": ending(1, "proctor.runner: disk full")})
    result = await run_attempt(a_local_attempt(tmp_path), phases, FakeGateway())
    assert result.message == "exit code 1: proctor.runner: disk full"


async def test_folder_that_cannot_be_made_is_our_fault(tmp_path):
    (tmp_path / "trials").write_text("in the way")
    result = await run_attempt(a_local_attempt(tmp_path), FakePhases(), FakeGateway())
    assert (result.failure_class, result.reason) == (FailureClass.INFRA, "LauncherError")


async def test_orders_are_those_of_the_plan(tmp_path):
    read = {}

    def agent(order):
        read.update(json.loads(Path(argument(order, "--orders")).read_text()))
        return PhaseEnd(0)

    await run_attempt(a_local_attempt(tmp_path), FakePhases({"agent": agent}), FakeGateway())
    assert read["prompt"] == "Say hello."


def _leave(places, where):
    """What a hostile agent leaves at one of our own places."""
    path = places.folder / where
    if path.exists():
        remove_tree(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    (path / "inner").mkdir(parents=True)
    return path


@pytest.mark.parametrize(
    "where",
    [
        pytest.param(where, id=where.replace("/", "-"))
        for where in (
            "work/frozen/workspace", "work/frozen/home", "work/evidence/checks", "work/scratch",
            "work/private/grade.json", "record", "logs",
        )
    ],
)  # fmt: skip
async def test_what_an_agent_lays_into_our_places_gains_no_other_attempt(tmp_path, where):
    # Each of these made an OSError of the launcher's: a null score and a free retry.
    attempt = a_local_attempt(tmp_path, tasks=[CHECKED])
    phases = FakePhases({"agent": lambda _: _leave(attempt.places, where) and PhaseEnd(0)})
    assert isinstance(await run_attempt(attempt, phases, FakeGateway()), TrialVerdict)


@pytest.mark.parametrize("kind", [pytest.param(kind, id=kind) for kind in ("gone", "file", "link")])
async def test_agent_without_a_workspace_has_left_an_empty_one(tmp_path, kind):
    attempt = a_local_attempt(tmp_path, tasks=[CHECKED])
    workspace, seen = attempt.places.workspace, []

    def agent(_):
        remove_tree(workspace)
        if kind == "file":
            workspace.write_text("x")
        elif kind == "link":
            workspace.symlink_to("/etc")
        return PhaseEnd(0)

    def checks(order):
        seen.extend(Path(argument(order, "--frozen-workspace")).iterdir())
        return PhaseEnd(0)

    phases = FakePhases({"agent": agent, "checks": checks})
    assert isinstance(await run_attempt(attempt, phases, FakeGateway()), TrialVerdict)
    assert seen == []


async def test_frozen_workspace_taken_away_by_the_checks_is_the_agents_failure(tmp_path):
    attempt = a_local_attempt(tmp_path, tasks=[CHECKED])

    def checks(_):
        remove_tree(attempt.places.frozen)
        return PhaseEnd(0)

    end = await run_attempt(attempt, FakePhases({"checks": checks}), FakeGateway())
    assert isinstance(end, Failure)
    assert (end.failure_class, end.reason, end.started) == (
        FailureClass.TASK, "PlacesBroken", True,
    )  # fmt: skip


async def test_full_disk_of_this_machine_is_not_the_agents_failure(tmp_path):
    def checks(_):
        raise OSError(errno.ENOSPC, "no space left")

    attempt = a_local_attempt(tmp_path, tasks=[CHECKED])
    end = await run_attempt(attempt, FakePhases({"checks": checks}), FakeGateway())
    assert isinstance(end, Failure)
    assert (end.failure_class, end.reason) == (FailureClass.INFRA, "LauncherError")
