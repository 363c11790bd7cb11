"""What needs a container is refused where there is none, and only when it is to run."""

import pytest

from proctor.api.errors import SpecError
from proctor.local.loading import examine, load_runs
from proctor.local.overrides import Flags

RUN = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: one}
spec:
  agent: {type: none}
  tasks:
    - name: a
      criteria: [{type: file_exists, path: a.txt}]
      sandbox:
        services: [{name: db, image: "postgres:16", port: 5432}]
"""


def test_a_service_is_valid_but_does_not_run_on_this_machine(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(RUN)
    assert examine([file], Flags()).problems == ()
    with pytest.raises(SpecError) as refused:
        load_runs([file], Flags())
    (problem,) = refused.value.problems
    assert (problem.field, problem.line) == ("spec.tasks[0].sandbox.services", 11)
    assert "apply the run to a cluster" in problem.remedy


def test_a_workspace_of_an_image_does_not_run_on_this_machine(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(
        RUN.replace('services: [{name: db, image: "postgres:16", port: 5432}]', "image: a/b:1")
        + "      workspace: {image: {path: /testbed}}\n"
    )
    with pytest.raises(SpecError) as refused:
        load_runs([file], Flags())
    (problem,) = refused.value.problems
    assert problem.field == "spec.tasks[0].workspace.image"
