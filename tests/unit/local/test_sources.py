import os
from pathlib import Path

import pytest

from proctor.local.loading import examine
from proctor.local.overrides import Flags
from proctor.local.sources import read_sources

RUN = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: NAME}
spec:
  agent: {type: mini, model: claude-haiku-4-5}
  models: {mode: Scripted, script: SCRIPT}
  tasks:
    - {name: a, prompt: Say a., criteria: [{type: file_exists, path: a.txt}]}
"""
CONFIG_MAP = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: answers}
data:
  script.yaml: |
    rules: [{answer: {text: hi}}]
"""
TASK = """
task_id: NAME
initial_prompt: Say it.
agent: {type: none}
success_criteria: [{type: file_exists, path: a.txt, description: it is there}]
"""
INLINE = "{inline: 'rules: [{answer: {text: hi}}]'}"
NAMED = "{configMap: {name: answers}}"


def write(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        (folder / f"{name}.yaml").write_text(text)
    return folder


def a_run(name: str = "one", script: str = INLINE) -> str:
    return RUN.replace("NAME", name).replace("SCRIPT", script)


def a_task(name: str) -> str:
    return TASK.replace("NAME", name).replace(
        "agent: {type: none}", "agent: {type: mini, model: claude-haiku-4-5}"
    )


def found(path: Path) -> list[str]:
    return [str(problem) for problem in examine([path], Flags()).problems]


def test_folder_gives_all_its_runs(tmp_path):
    sources = read_sources([write(tmp_path, b=a_run("two"), a=a_run("one"))])
    assert [run.name for run in sources.runs] == ["one", "two"]


def test_task_files_of_a_folder_make_one_run_called_after_it(tmp_path):
    folder = tmp_path / "My Suite"
    folder.mkdir()
    write(folder, a=a_task("first"), b=a_task("second"))
    (run,) = read_sources([folder]).runs
    assert run.name == "my-suite"
    assert [task.name for task in run.spec.tasks] == ["first", "second"]


def test_file_that_two_paths_lead_to_is_read_once(tmp_path):
    write(tmp_path, run=a_run())
    loaded = examine([tmp_path, tmp_path / "run.yaml"], Flags())
    assert (len(loaded.runs), loaded.problems) == (1, ())


def test_script_is_found_in_a_config_map_of_any_file(tmp_path):
    write(tmp_path, run=a_run(script=NAMED), maps=CONFIG_MAP)
    (run,) = examine([tmp_path], Flags()).runs
    assert run.script == "rules: [{answer: {text: hi}}]\n"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        pytest.param({"x": "a: [1"}, "is not YAML", id="not-yaml"),
        pytest.param({"x": "foo: bar"}, "x.yaml:1", id="neither-ours-nor-a-task"),
        pytest.param({"x": ""}, "x.yaml: document: is empty", id="empty"),
        pytest.param({"x": a_run(), "y": a_run()}, "two runs are called 'one'", id="same-name"),
        pytest.param({"x": a_run(script=NAMED)}, "no file holds a ConfigMap", id="no-config-map"),
        pytest.param(
            {"x": CONFIG_MAP, "y": CONFIG_MAP.replace("hi", "ho"), "z": a_run()},
            "another file holds another ConfigMap",
            id="two-config-maps-of-one-name",
        ),
        pytest.param(
            {"x": a_run(script="{inline: 'rules: []'}")},
            "x.yaml:7: spec.models.script.inline.rules",
            id="bad-script",
        ),
        pytest.param(
            {"x": a_task("t").replace("file_exists", "no_such")}, "x.yaml:5", id="bad-task"
        ),
    ],
)
def test_one_bad_file_is_named(tmp_path, files, problem):
    write(tmp_path, good=a_task("good"), **files)
    assert [text for text in found(tmp_path) if problem in text]


def test_all_problems_of_all_files_come_at_once(tmp_path):
    write(tmp_path, a=a_run().replace("mini", "nobody"), b=a_run("Not A Name"), c="- 1")
    problems = found(tmp_path)
    assert {text.split(":")[0].rpartition("/")[2] for text in problems} == {
        "a.yaml",
        "b.yaml",
        "c.yaml",
    }


def test_bad_field_does_not_hide_what_planning_would_say(tmp_path):
    text = (
        a_run("Bad Name").replace("file_exists", "nonsense").replace("spec:", "spec:\n  repeats: x")
    )
    fields = {text.split(": ")[1] for text in found(write(tmp_path, a=text))}
    assert fields == {"metadata.name", "spec.repeats", "spec.tasks[0].criteria[0].type"}


def test_what_is_missing_because_it_was_bad_is_told_once(tmp_path):
    text = a_run().replace("prompt: Say a.", "prompt: [1]").replace("type: mini", "type: 7")
    fields = {text.split(": ")[1] for text in found(write(tmp_path, a=text))}
    assert fields == {"spec.agent.type", "spec.tasks[0].prompt"}


def test_files_that_a_task_takes_along_are_no_manifests(tmp_path):
    (tmp_path / "start").mkdir()
    write(tmp_path / "start", compose="services: {}")
    template = "sandbox: {template_sources: [{type: template_dir, path: start}]}"
    write(tmp_path, task=a_task("t") + template)
    assert found(tmp_path) == []


def test_hidden_folders_are_not_looked_at(tmp_path):
    (tmp_path / ".github").mkdir()
    write(tmp_path / ".github", ci="on: push")
    assert found(write(tmp_path, a=a_run())) == []


def test_a_folder_that_is_only_linked_is_not_left_out_without_a_word(tmp_path):
    (tmp_path / "shared").mkdir()
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "more").symlink_to(tmp_path / "shared")
    sources = read_sources([write(suite, a=a_run())])
    assert [str(warning) for warning in sources.warnings] == [
        f"{suite / 'more'}: PATH: is a symbolic link to a folder, in which no task is looked for "
        "(name it as a PATH of its own)"
    ]


def test_a_linked_folder_that_a_task_takes_along_is_no_surprise(tmp_path):
    (tmp_path / "shared").mkdir()
    suite = tmp_path / "suite"
    suite.mkdir()
    (suite / "start").symlink_to(tmp_path / "shared")
    template = "sandbox: {template_sources: [{type: template_dir, path: start}]}"
    sources = read_sources([write(suite, task=a_task("t") + template)])
    assert (sources.problems, sources.warnings) == ([], [])


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        pytest.param("missing.yaml", "does not exist", id="missing"),
        pytest.param("empty", "holds no YAML file", id="empty-folder"),
        pytest.param("latin.yaml", "is not UTF-8", id="not-utf-8"),
    ],
)
def test_path_that_holds_nothing_is_a_problem(tmp_path, name, problem):
    (tmp_path / "empty").mkdir()
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9")
    assert problem in found(tmp_path / name)[0]


def test_skipped_task_is_reported(tmp_path):
    write(tmp_path, a=a_task("a"), b=a_task("b") + "skip: true\n")
    loaded = examine([tmp_path], Flags())
    assert [str(warning) for warning in loaded.warnings if "'b' is skipped" in str(warning)]
    assert len(loaded.runs[0].plan.trials) == 1


def odd(folder: Path, kind: str) -> Path:
    path = folder / "odd.yaml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "nowhere":
        path.symlink_to("missing")
    else:
        with path.open("wb") as file:
            file.truncate(1 << 40)
    return path


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        pytest.param("pipe", "is empty", id="pipe-without-a-writer"),
        pytest.param("device", "not a regular file", id="endless-device"),
        pytest.param("sparse", "more than 32 MiB", id="terabyte"),
        pytest.param("loop", "cannot be read", id="link-to-itself"),
        pytest.param("nowhere", "cannot be read", id="link-to-nothing"),
    ],
)
def test_what_is_no_manifest_neither_hangs_nor_makes_the_suite_smaller(tmp_path, kind, said):
    write(tmp_path, good=a_run())
    odd(tmp_path, kind)
    (problem,) = found(tmp_path)
    assert "odd.yaml" in problem
    assert said in problem


def test_manifest_may_come_through_a_pipe():
    read, write_end = os.pipe()
    os.write(write_end, a_run().encode())
    os.close(write_end)
    assert [run.name for run in read_sources([Path(f"/dev/fd/{read}")]).runs] == ["one"]
    os.close(read)


def test_template_of_the_whole_disk_is_refused_before_it_is_read(tmp_path):
    # `path: /` was read into memory file by file until that was full.
    template = tmp_path / "template"
    template.mkdir()
    with (template / "big").open("wb") as file:
        file.truncate(33 << 20)
    task = a_task("t") + "sandbox: {template_sources: [{type: template_dir, path: template}]}\n"
    (problem,) = found(write(tmp_path, task=task))
    assert "32 MiB" in problem


def test_what_a_template_ignores_is_not_read(tmp_path):
    ignored = tmp_path / "template" / "node_modules"
    ignored.mkdir(parents=True)
    (tmp_path / "template" / "a.txt").write_text("a")
    with (ignored / "big").open("wb") as file:
        file.truncate(33 << 20)
    task = a_task("t") + "sandbox: {template_sources: [{type: template_dir, path: template}]}\n"
    assert found(write(tmp_path, task=task)) == []
