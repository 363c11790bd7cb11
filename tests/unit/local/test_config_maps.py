"""Workspaces from ConfigMaps that stand in the same files."""

from pathlib import Path

from proctor.local.loading import examine, load_runs, resumed_run
from proctor.local.overrides import Flags
from proctor.local.places import RunPlaces
from proctor.local.source_file import write_source

RUN = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: one}
spec:
  agent: {type: none}
  tasks:
    - name: a
      criteria: [{type: file_exists, path: a.txt}]
      workspace: {configMap: {name: starter}}
"""
STARTER = """
---
apiVersion: v1
kind: ConfigMap
metadata: {name: starter}
data: {a.txt: hello}
"""


def a_file(folder: Path, text: str) -> Path:
    path = folder / "run.yaml"
    path.write_text(text)
    return path


def files_of(run):
    (cell,) = run.plan.cells.values()
    return {file.path: file.data for file in cell.orders.agent.files}


def test_its_files_are_laid_into_the_workspace(tmp_path):
    (run,) = load_runs([a_file(tmp_path, RUN + STARTER)], Flags()).runs
    assert files_of(run) == {"a.txt": b"hello"}


def test_one_that_no_file_holds_is_named(tmp_path):
    (problem,) = examine([a_file(tmp_path, RUN)], Flags()).problems
    assert problem.field == "spec.tasks[0].workspace.configMap.name"
    assert "into the same files" in problem.remedy


def test_a_resumed_run_has_the_same_files(tmp_path):
    (run,) = load_runs([a_file(tmp_path, RUN + STARTER)], Flags()).runs
    write_source(RunPlaces(tmp_path), run)
    again = resumed_run(tmp_path, Flags())
    assert files_of(again) == {"a.txt": b"hello"}
    assert again.fingerprint() == run.fingerprint()
