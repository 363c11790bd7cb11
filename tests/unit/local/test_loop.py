import asyncio
import json
from decimal import Decimal

import pytest

from builders import seconds
from builders_local import FakePhases, FakeReporter, Stage, a_planned_run, ending, grading
from builders_planning import a_task
from proctor.api.outcome import Outcome
from proctor.engine.model import TrialId
from proctor.local.folder import read_run
from proctor.local.phases import PhaseEnd

FAILED = {
    "outcome": Outcome.FAILED,
    "score": Decimal(0),
    "scores": (Decimal(0),),
    "passed": (False,),
}


async def test_every_trial_is_run_once_and_the_run_completes(tmp_path):
    run = a_planned_run(tasks=[a_task("a"), a_task("b")], repeats=2)
    stage = Stage(run, tmp_path)
    file = await stage.play()
    assert stage.phases.names.count("agent") == 4
    assert (file.status.state, file.status.trials.passed) == ("Complete", 4)
    assert sorted(trial.task for trial, _ in stage.reporter.ended_trials) == ["a", "a", "b", "b"]


async def test_run_file_holds_what_was_reported(tmp_path):
    file = await Stage(a_planned_run(), tmp_path).play()
    assert read_run(tmp_path) == file
    line = json.loads((tmp_path / "run.json").read_text())["trials"][0]
    assert (line["outcome"], line["score"], line["costUsd"]) == ("Passed", "1", "0.01")
    assert (tmp_path / line["folder"] / "trial.json").exists()


async def test_no_more_trials_run_at_once_than_asked_for(tmp_path):
    run = a_planned_run(parallelism=2, repeats=5)
    stage = Stage(run, tmp_path)
    await stage.play()
    assert max(len(progress.running) for progress in stage.reporter.progress) <= 2


async def test_fault_of_the_platform_makes_another_attempt(tmp_path):
    ends = iter([PhaseEnd(3, last_line="no room"), PhaseEnd(0)])
    stage = Stage(a_planned_run(), tmp_path, FakePhases({"agent": lambda _: next(ends)}))
    file = await stage.play()
    assert file.status.trials.passed == 1
    status = json.loads((tmp_path / "trials/hello/default/0/trial.json").read_text())["status"]
    assert [one["reason"] for one in status["attempts"]] == ["AgentNotStarted", "Graded"]


async def test_broken_grader_leaves_no_score(tmp_path):
    stage = Stage(a_planned_run(), tmp_path, FakePhases({"grade": ending(1)}))
    file = await stage.play()
    assert (file.status.score, file.status.trials.errored) == (None, 1)


@pytest.mark.parametrize(
    ("verdict", "keep", "kept"),
    [
        pytest.param({}, False, False, id="passed-is-removed"),
        pytest.param({}, True, True, id="passed-is-kept-on-request"),
        pytest.param(FAILED, False, True, id="failed-is-kept"),
    ],
)
async def test_workspaces_are_kept_where_somebody_will_look(tmp_path, verdict, keep, kept):
    phases = FakePhases({"grade": grading(**verdict)})
    await Stage(a_planned_run(), tmp_path, phases, keep_workspaces=keep).play()
    assert (tmp_path / "trials/hello/default/0/work").exists() is kept


async def test_cancelled_run_keeps_verdicts_and_cancels_the_rest(tmp_path):
    run = a_planned_run(parallelism=1, tasks=[a_task("a"), a_task("b")])

    class CancelsAfterTheFirst(FakeReporter):
        def trial_ended(self, trial, status, progress):
            super().trial_ended(trial, status, progress)
            stage.loop.cancel()

    stage = Stage(run, tmp_path, reporter=CancelsAfterTheFirst())
    file = await stage.play()
    assert [line.outcome for line in file.trials] == ["Passed", "Cancelled"]
    assert file.status.state == "Cancelled"


async def test_cancelled_attempt_is_waited_for(tmp_path):
    stage = Stage(a_planned_run(), tmp_path, FakePhases(hanging=frozenset({"agent"})))
    playing = asyncio.create_task(stage.play())
    await stage.phases.started.wait()
    stage.loop.cancel()
    file = await asyncio.wait_for(playing, seconds(20).total_seconds())
    assert file.status.trials.cancelled == 1


async def test_resumed_run_runs_only_what_has_no_score(tmp_path):
    run = a_planned_run(parallelism=1, tasks=[a_task("a"), a_task("b"), a_task("c")])
    ends = {"a": grading(**FAILED), "b": ending(1), "c": grading()}

    def grade(order):
        return ends[order.arguments[order.arguments.index("--task") + 1]](order)

    first = await Stage(run, tmp_path, FakePhases({"grade": grade})).play()
    assert [line.outcome for line in first.trials] == ["Failed", "GraderError", "Passed"]

    again = Stage(run, tmp_path)
    again.loop.resume()
    second = await again.play()
    assert again.reporter.kept == 2
    assert again.phases.names == ["agent", "grade"]
    assert [line.outcome for line in second.trials] == ["Failed", "Passed", "Passed"]


async def test_resumed_trial_keeps_counting_what_was_spent(tmp_path):
    run = a_planned_run()
    await Stage(run, tmp_path, FakePhases({"grade": ending(1)})).play()
    again = Stage(run, tmp_path)
    again.loop.resume()
    file = await again.play()
    assert str(file.status.cost_usd) == "0.02"
    status = json.loads((tmp_path / "trials/hello/default/0/trial.json").read_text())["status"]
    assert [one["number"] for one in status["attempts"]] == [1, 2]


async def test_torn_trial_file_counts_as_none(tmp_path):
    run = a_planned_run()
    await Stage(run, tmp_path).play()
    (tmp_path / "trials/hello/default/0/trial.json").write_text('{"schemaVersion": 1, "ru')
    again = Stage(run, tmp_path)
    again.loop.resume()
    file = await again.play()
    assert (again.reporter.kept, file.status.trials.passed) == (0, 1)


async def test_progress_shows_what_running_trials_have_used(tmp_path):
    stage = Stage(a_planned_run(), tmp_path)
    await stage.play()
    during = [progress for progress in stage.reporter.progress if progress.running]
    assert during[-1].running == [TrialId("hello", "default", 0)]
    assert (str(during[-1].cost_usd), during[-1].tokens) == ("0.01", 120)


async def test_attempt_that_nobody_saw_end_makes_the_cost_incomplete(tmp_path):
    # After `kill -9` the cost of what ran then was forgotten, and the rest called complete.
    run, kept = a_planned_run(), {}
    path = tmp_path / "trials/hello/default/0/trial.json"

    def agent(_):
        kept["file"] = path.read_bytes()
        return PhaseEnd(0)

    await Stage(run, tmp_path, FakePhases({"agent": agent})).play()
    path.write_bytes(kept["file"])
    again = Stage(run, tmp_path)
    again.loop.resume()
    file = await again.play()
    assert (file.trials[0].outcome, str(file.status.cost_usd)) == ("Passed", "0.01")
    assert (file.trials[0].cost_complete, file.status.cost_complete) == (False, False)
    status = json.loads(path.read_text())["status"]
    assert [one["reason"] for one in status["attempts"]] == ["Unfinished", "Graded"]


async def test_attempt_without_a_model_cost_nothing_although_nobody_saw_it_end(tmp_path):
    run, kept = a_planned_run(agent={"type": "none"}), {}
    path = tmp_path / "trials/hello/default/0/trial.json"

    def agent(_):
        kept["file"] = path.read_bytes()
        return PhaseEnd(0)

    await Stage(run, tmp_path, FakePhases({"agent": agent})).play()
    path.write_bytes(kept["file"])
    again = Stage(run, tmp_path)
    again.loop.resume()
    assert (await again.play()).status.cost_complete
