import pytest

from builders import NOON
from builders_local import a_folder, a_planned_run
from proctor.api.errors import UserError
from proctor.api.run_status import EvalRunStatus, TrialCounts
from proctor.engine.model import TrialId
from proctor.local.exit_code import exit_code
from proctor.local.folder import RunFolder
from proctor.local.notes import notes
from proctor.local.places import RunPlaces
from proctor.local.providers import find_providers
from proctor.local.source_file import read_source, write_source
from proctor.local.start import locked, new_folder, resumed_folder


def a_status(gate=None, **counts):
    counts = {"passed": 2, **counts}
    return EvalRunStatus(trials=TrialCounts(total=sum(counts.values()), **counts), gate=gate)


@pytest.mark.parametrize(
    ("runs", "code"),
    [
        pytest.param([a_status()], 0, id="all-passed"),
        pytest.param([a_status(failed=1)], 1, id="one-failed"),
        pytest.param([a_status("Passed", failed=1)], 0, id="gate-passed-in-spite"),
        pytest.param([a_status("Failed")], 1, id="gate-failed"),
        pytest.param([a_status(errored=1)], 3, id="one-without-a-score"),
        pytest.param([a_status("Failed", errored=1)], 3, id="gate-failed-without-all-scores"),
        pytest.param([a_status("Passed", errored=1)], 0, id="gate-tolerates-a-missing-score"),
        pytest.param([a_status(cancelled=1)], 1, id="deadline"),
        pytest.param([a_status(errored=1), a_status(failed=1)], 3, id="worst-of-several"),
        pytest.param([], 0, id="nothing"),
    ],
)
def test_exit_code_says_passed_not_passed_or_broken(runs, code):
    assert exit_code(runs, interrupted=False) == code


def test_a_run_that_could_not_start_is_broken_whatever_it_reached_before():
    assert exit_code([a_status("Passed")], interrupted=False, failed=["run"]) == 3


def test_interruption_beats_every_result():
    assert exit_code([a_status(errored=1)], interrupted=True) == 130


def test_names_of_tasks_cannot_leave_the_folder_or_meet(tmp_path):
    places = RunPlaces(tmp_path)
    trials = [TrialId("a/b", "v", 0), TrialId("a/../b", "v", 0), TrialId("a", "b", 0)]
    folders = {places.trial(trial).folder for trial in trials}
    assert len(folders) == 3
    assert all(folder.parents[2] == tmp_path for folder in {f.parent for f in folders})


def test_new_folder_is_named_by_run_and_time(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = a_planned_run()
    folders = [new_folder(run, None, several=False, now=NOON).places.folder for _ in range(2)]
    assert [str(folder.relative_to(tmp_path)) for folder in folders] == [
        "results/run-20260131T120000Z",
        "results/run-20260131T120000Z-2",
    ]
    assert folders[0].stat().st_mode & 0o777 == 0o700


def test_several_runs_share_an_output_folder(tmp_path):
    folder = new_folder(a_planned_run(), tmp_path / "out", several=True, now=NOON)
    assert folder.places.folder == tmp_path / "out" / "run"


def test_used_folder_is_refused(tmp_path):
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UserError, match="is not empty"):
        new_folder(a_planned_run(), tmp_path, several=False, now=NOON)


def test_resumed_run_must_be_the_same(tmp_path):
    run = a_planned_run()
    folder = RunFolder(tmp_path, run.name, run.suite, "uid", run.fingerprint())
    folder.write_run(EvalRunStatus(), run.desired(), {})
    assert resumed_folder(run, tmp_path).places.folder == tmp_path
    with pytest.raises(UserError, match="cannot be resumed"):
        resumed_folder(a_planned_run(repeats=2), tmp_path)


def test_folder_belongs_to_one_process_at_a_time(tmp_path):
    folder = a_folder(tmp_path, a_planned_run())
    with locked(folder), pytest.raises(UserError, match="is in use"), locked(folder):
        pass
    with locked(folder):
        pass


def test_more_parallelism_does_not_make_another_run():
    assert a_planned_run(parallelism=9).fingerprint() == a_planned_run().fingerprint()


def test_another_script_makes_another_run():
    assert a_planned_run(script="rules: []").fingerprint() != a_planned_run().fingerprint()


@pytest.mark.parametrize("content", [None, "{", '{"schemaVersion": 1}'])
def test_folder_without_a_run_cannot_be_resumed(tmp_path, content):
    if content is not None:
        (tmp_path / "run.json").write_text(content)
    with pytest.raises(UserError, match=r"run\.json"):
        resumed_folder(a_planned_run(), tmp_path)


def test_folder_alone_says_what_was_asked_for(tmp_path):
    run = a_planned_run(script="rules: []", repeats=2, seed="s")
    write_source(RunPlaces(tmp_path), run)
    source, script, cassette = read_source(tmp_path)
    assert (source.name, source.seed, source.spec, script, cassette) == (
        run.name,
        "s",
        run.source.spec,
        "rules: []",
        None,
    )


@pytest.mark.parametrize(
    ("model", "environment", "missing"),
    [
        pytest.param("claude-x", {}, "ANTHROPIC_API_KEY", id="no-key"),
        pytest.param("claude-x", {"OPENAI_API_KEY": "k"}, "ANTHROPIC_API_KEY", id="anothers-key"),
        pytest.param("gpt-5", {}, "OPENAI_API_KEY", id="openai"),
        pytest.param("llama", {"OPENAI_API_KEY": "k"}, "OPENAI_BASE_URL", id="of-nobody"),
        pytest.param("claude-x", {"ANTHROPIC_API_KEY": "k"}, None, id="key-is-there"),
        pytest.param("llama", {"OPENAI_BASE_URL": "http://here"}, None, id="own-server"),
    ],
)
def test_missing_key_is_named_before_anything_starts(model, environment, missing):
    run = a_planned_run(agent={"type": "mini", "model": model})
    if missing is None:
        find_providers([run], environment)
        return
    with pytest.raises(UserError, match=missing):
        find_providers([run], environment)


def test_scripted_run_needs_no_key():
    models = {"mode": "Scripted", "script": {"inline": "rules: [{answer: {text: hi}}]"}}
    assert find_providers([a_planned_run(models=models)], {}) == ()


@pytest.mark.parametrize(
    ("egress", "word"),
    [
        pytest.param({"mode": "None"}, "takes the agent's key", id="none"),
        pytest.param({"mode": "ModelOnly"}, "for a cluster", id="model-only"),
        pytest.param({"mode": "AllowList", "hosts": ["a.test"]}, "every host", id="allow-list"),
    ],
)
def test_egress_that_was_asked_for_and_confines_nothing_is_said_once(egress, word):
    agent = {"type": "command", "options": {"command": "true"}}
    run = a_planned_run(agent=agent, sandbox={"egress": egress})
    (said,) = [note for note in notes([run, run]) if "sandbox.egress" in note]
    assert word in said


@pytest.mark.parametrize("sandbox", [{}, {"egress": {"mode": "Open"}}])
def test_nothing_is_said_of_egress_that_nobody_confined(sandbox):
    assert not any("sandbox.egress" in note for note in notes([a_planned_run(sandbox=sandbox)]))


def test_what_this_machine_leaves_out_is_said_once():
    run = a_planned_run(sandbox={"image": "acme/task:1", "persist": ["/opt/data"]}, suspend=True)
    said = "\n".join(notes([run, run]))
    for words in ("without a sandbox", "acme/task:1", "sandbox.persist", "suspend"):
        assert said.count(words) == 1


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"ANTHROPIC_BASE_URL": "http://me:s3cret@127.0.0.1:none"}, id="bad-port"),
        pytest.param({"ANTHROPIC_BASE_URL": "http://me:s3cret@[::1"}, id="bad-address"),
        pytest.param({"OPENAI_BASE_URL": "me:s3cret@127.0.0.1:1"}, id="no-scheme"),
        pytest.param({"OPENAI_BASE_URL": "http://x\n/s3cret"}, id="line-end"),
        pytest.param({"ANTHROPIC_API_KEY": "s3cret\n"}, id="key-with-line-end"),
        pytest.param({"OPENAI_API_KEY": "s3cret\u00fc"}, id="key-of-no-header"),
    ],
)
def test_address_or_key_that_cannot_work_is_named_and_never_shown(environment):
    # The gateway failed at every call instead, and the agent scored 0 for it.
    run = a_planned_run(agent={"type": "mini", "model": "claude-haiku-4-5"})
    with pytest.raises(UserError, match=r"_BASE_URL is no address|_API_KEY is no key") as caught:
        find_providers([run], {"ANTHROPIC_API_KEY": "k", **environment})
    assert "s3cret" not in str(caught.value)
