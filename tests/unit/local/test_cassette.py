"""Where a run's cassette stands."""

import json
from pathlib import Path

import pytest

from proctor.api.errors import SpecError
from proctor.local.cassette import recorded_path
from proctor.local.loading import load_runs, resumed_run
from proctor.local.notes import notes
from proctor.local.overrides import Flags
from proctor.local.places import RunPlaces
from proctor.local.planned import PlannedRun
from proctor.local.source_file import write_source

CASSETTE = "cassette: 1\nrecording: r\n---\n"
RUN = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {{name: hello}}
spec:
  agent: {{type: mini, model: claude-sonnet-4-5}}
  tasks: [{{name: t, prompt: p, criteria: [{{type: file_exists, path: a}}]}}]
  models: {models}
"""


def load(folder: Path, models: str, more: str = "", flags: Flags | None = None) -> PlannedRun:
    file = folder / "run.yaml"
    file.write_text(RUN.format(models=models) + more)
    (run,) = load_runs([file], flags or Flags()).runs
    return run


def problems(folder: Path, models: str) -> str:
    with pytest.raises(SpecError) as caught:
        load(folder, models)
    return str(caught.value)


def test_a_file_stands_beside_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CASSETTE)
    run = load(tmp_path, "{mode: Replay, cassette: {file: c.yaml}}")
    assert (run.cassette, run.models) == (CASSETTE, "Replay")


def test_a_config_map_stands_in_the_same_file(tmp_path: Path) -> None:
    document = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c"},
        "data": {"cassette.yaml": CASSETTE},
    }
    more = f"---\n{json.dumps(document)}\n"
    run = load(tmp_path, "{mode: Replay, cassette: {configMap: {name: c}}}", more)
    assert run.cassette == CASSETTE


def test_flags_win_over_whatever_answers_in_the_spec(tmp_path: Path) -> None:
    cassette = tmp_path / "c.yaml"
    cassette.write_text(CASSETTE)
    scripted = "{mode: Scripted, script: {inline: 'rules: [{answer: {text: x}}]'}}"
    run = load(tmp_path, scripted, flags=Flags(replay=cassette))
    assert (run.cassette, run.script, run.models) == (CASSETTE, None, "Replay")
    run = load(tmp_path, scripted, flags=Flags(record=cassette))
    assert (run.cassette, run.models) == (None, "Record")
    assert recorded_path(run.source, tmp_path / "results") == cassette


def test_a_run_is_recorded_in_its_own_folder_unless_told_otherwise(tmp_path: Path) -> None:
    run = load(tmp_path, "{mode: Record}")
    assert recorded_path(run.source, Path("results/x")) == Path("results/x/cassette.yaml")
    run = load(tmp_path, "{mode: Record, cassette: {file: sub/c.yaml}}")
    assert recorded_path(run.source, Path("results/x")) == tmp_path / "sub" / "c.yaml"
    run = load(tmp_path, "{mode: Live}")
    assert recorded_path(run.source, Path("results/x")) is None


def test_a_resumed_run_is_replayed_from_what_it_began_with(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text(CASSETTE)
    run = load(tmp_path, "{mode: Replay, cassette: {file: c.yaml}}")
    folder = tmp_path / "results"
    folder.mkdir()
    write_source(RunPlaces(folder), run)
    (tmp_path / "c.yaml").unlink()
    again = resumed_run(folder, Flags())
    assert again.cassette == CASSETTE
    assert again.fingerprint() == run.fingerprint()


@pytest.mark.parametrize(
    ("models", "message"),
    [
        pytest.param("{mode: Replay}", "mode Replay needs a cassette", id="none"),
        pytest.param(
            "{mode: Replay, cassette: {file: missing.yaml}}",
            "record it with --record FILE",
            id="no file",
        ),
        pytest.param(
            "{mode: Replay, cassette: {file: run.yaml}}", "is no cassette", id="another file"
        ),
        pytest.param(
            "{mode: Replay, cassette: {configMap: {name: c}}}",
            "no file holds a ConfigMap 'c' with the key 'cassette.yaml'",
            id="no config map",
        ),
        pytest.param(
            "{mode: Replay, cassette: {volume: {path: c.yaml}}}",
            "use --record FILE or --replay FILE",
            id="a volume of a cluster",
        ),
        pytest.param(
            "{mode: Replay, cassette: {file: a, configMap: {name: c}}}",
            "exactly one place",
            id="two places",
        ),
        pytest.param(
            "{mode: Record, cassette: {configMap: {name: c}}}",
            "nothing is recorded to a ConfigMap",
            id="recorded to a config map",
        ),
        pytest.param(
            "{mode: Live, cassette: {file: a}}", "mode Live uses no cassette", id="in mode Live"
        ),
    ],
)
def test_a_cassette_that_cannot_be_used_is_refused_with_a_remedy(
    tmp_path: Path, models: str, message: str
) -> None:
    assert message in problems(tmp_path, models)


def test_both_flags_at_once_are_refused(tmp_path: Path) -> None:
    flags = Flags(record=tmp_path / "a", replay=tmp_path / "b")
    with pytest.raises(SpecError, match="give one of both"):
        load(tmp_path, "{mode: Live}", flags=flags)


def test_a_user_is_told_where_a_recording_goes(tmp_path: Path) -> None:
    run = load(tmp_path, "{mode: Record}")
    said = (
        "hello is recorded to the run's folder/cassette.yaml: read it before you give it to others"
    )
    assert said in notes([run])
    assert said not in notes([load(tmp_path, "{mode: Live}")])


def test_a_recording_replaces_nothing_but_another_one(tmp_path: Path) -> None:
    file = tmp_path / "c.yaml"
    for text in ("", CASSETTE):
        file.write_text(text)
        assert load(tmp_path, "{mode: Live}", flags=Flags(record=file)).models == "Record"
    file.write_text("rules: []")
    with pytest.raises(SpecError, match="is there, and no cassette"):
        load(tmp_path, "{mode: Live}", flags=Flags(record=file))
    with pytest.raises(SpecError, match="cannot be written"):
        load(tmp_path, "{mode: Live}", flags=Flags(record=tmp_path))
