"""What needs a container is refused where there is none, and only when it is to run."""

from dataclasses import replace

import pytest

from builders_local import a_planned_run
from proctor.api.container import SandboxUser
from proctor.api.errors import SpecError
from proctor.local.loading import examine, load_runs
from proctor.local.notes import CONTAINERS, NO_SANDBOX, notes
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


IN_CONTAINERS = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: one}
spec:
  agent: {type: none}
  sandbox: {image: "a/b:1"}
  tasks:
    - name: a
      criteria: [{type: run_command, command: "true"}]
      workspace: {image: {path: /testbed}}
      sandbox:
        MORE
"""


def refused_in_containers(folder, more, text=IN_CONTAINERS):
    file = folder / "run.yaml"
    file.write_text(text.replace("MORE", more))
    with pytest.raises(SpecError) as refused:
        load_runs([file], Flags(), contained=True)
    return refused.value.problems


@pytest.mark.parametrize(
    ("more", "field", "message"),
    [
        pytest.param(
            "egress: {mode: Open}",
            "sandbox.egress.mode",
            "containers here have no network",
            id="open",
        ),
        pytest.param(
            "egress: {mode: AllowList, hosts: [pypi.org]}",
            *("sandbox.egress.mode", "asks for AllowList"),
            id="allow-list",
        ),
        pytest.param("user: Image", "sandbox.user", "nobody has allowed it", id="user"),
        pytest.param(
            'services: [{name: db, image: "postgres:16", port: 5432}]',
            *("sandbox.services", "there are none here"),
            id="services",
        ),
    ],
)
def test_what_containers_here_cannot_do_is_refused_with_its_place(tmp_path, more, field, message):
    (problem,) = refused_in_containers(tmp_path, more)
    assert problem.field == f"spec.tasks[0].{field}"
    assert message in problem.message
    assert "cluster" in problem.remedy


def test_the_images_user_needs_a_flag_that_the_refusal_names(tmp_path):
    (problem,) = refused_in_containers(tmp_path, "user: Image")
    assert "--allow-image-user" in problem.remedy

    (run,) = load_runs([tmp_path / "run.yaml"], Flags(), contained=True, image_user=True).runs
    (cell,) = run.plan.cells.values()
    assert cell.user is SandboxUser.IMAGE
    assert cell.orders.grade.context["user"] == "Image"
    assert "maybe root: a/b:1" in notes([run])[1]


def test_checks_in_place_run_in_containers_too(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(IN_CONTAINERS.replace("MORE", "checks: InPlace"))
    (run,) = load_runs([file], Flags(), contained=True).runs
    (cell,) = run.plan.cells.values()
    assert cell.orders.grade.context["isolation"] == "InPlace"


def test_a_task_without_an_image_has_no_container(tmp_path):
    text = IN_CONTAINERS.replace('sandbox: {image: "a/b:1"}', "sandbox: {persist: [/opt/x]}")
    text = text.replace("workspace: {image: {path: /testbed}}", "prompt: Do it.")
    (problem,) = refused_in_containers(tmp_path, "persist: [/opt/x]", text)
    assert problem.field == "spec.tasks[0].sandbox.image"
    assert "task 'a', variant 'default' names no image" in problem.message
    assert "spec.sandbox.image" in problem.remedy


def test_a_workspace_of_an_image_runs_in_a_container(tmp_path):
    file = tmp_path / "run.yaml"
    file.write_text(IN_CONTAINERS.replace("MORE", "persist: [/opt/x]"))
    (run,) = load_runs([file], Flags(), contained=True).runs
    assert run.contained


def test_the_same_run_with_containers_and_without_is_not_the_same(tmp_path):
    run = a_planned_run()
    assert replace(run, contained=True).fingerprint() != run.fingerprint()


def test_notes_tell_what_confines_the_agents_and_what_does_not():
    fields = {"image": "a/b:1", "persist": ["/opt/x"], "egress": {"mode": "ModelOnly"}}
    run = a_planned_run(sandbox=fields)
    assert notes([replace(run, contained=True)]) == (CONTAINERS,)
    assert notes([run])[0] == NO_SANDBOX
    assert "sandbox.image is used only with --container: a/b:1" in notes([run])
