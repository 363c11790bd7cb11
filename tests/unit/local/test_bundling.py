"""What `proctor push` packs of a folder, and what it refuses before anything is sent."""

import os
import shutil

import pytest

from proctor.api.errors import SpecError, UserError
from proctor.local.bundling import pack_tasks
from proctor.planning.bundle import HIDDEN_PART, VISIBLE_PART

TASK = """
task_id: NAME
initial_prompt: Say it.
sandbox: {template_sources: [{type: template_dir, path: template}]}
reference: {directory: hidden}
success_criteria: [{type: file_exists, path: a.txt, description: it is there}]
"""
RUN = """
apiVersion: proctor.dev/v1alpha1
kind: EvalRun
metadata: {name: one}
spec:
  limits: {maxTurns: 3}
  tasks:
    - name: of-a-run
      prompt: Say a.
      workspace: {configMap: {name: starter, path: src}}
      criteria: [{type: file_exists, path: a.txt}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: starter}
data: {a.txt: of the map}
"""


@pytest.fixture
def suite(tmp_path):
    folder = tmp_path / "suite"
    (folder / "template").mkdir(parents=True)
    (folder / "template" / "start.sh").write_text("echo start")
    (folder / "hidden").mkdir()
    (folder / "hidden" / "expected.txt").write_text("forty-two")
    for name in ("a", "b"):
        (folder / f"{name}.yaml").write_text(TASK.replace("NAME", name))
    return folder


def said(folder):
    with pytest.raises(SpecError) as caught:
        pack_tasks(folder)
    return str(caught.value)


def test_a_folder_of_task_files_is_packed_with_the_files_that_they_name(suite):
    packed = pack_tasks(suite)
    assert packed.tasks == ("a", "b")
    assert b"echo start" in packed.bundle.parts[VISIBLE_PART]
    assert b"forty-two" in packed.bundle.parts[HIDDEN_PART]
    assert b"forty-two" not in packed.bundle.parts[VISIBLE_PART]


def test_the_same_folder_elsewhere_has_the_same_digest(suite, tmp_path):
    first = pack_tasks(suite).bundle.digest
    other = shutil.copytree(suite, tmp_path / "elsewhere" / "other-name")
    os.utime(other / "a.yaml", (0, 0))
    assert pack_tasks(other).bundle.digest == first


def test_a_changed_hidden_file_gives_another_digest(suite):
    first = pack_tasks(suite).bundle.digest
    (suite / "hidden" / "expected.txt").write_text("forty-three")
    assert pack_tasks(suite).bundle.digest != first


def test_whether_a_file_is_executable_is_packed_and_who_owns_it_is_not(suite):
    first = pack_tasks(suite).bundle.digest
    (suite / "template" / "start.sh").chmod(0o654)
    assert pack_tasks(suite).bundle.digest != first
    assert b'"executable":true' in pack_tasks(suite).bundle.parts[VISIBLE_PART]


def test_of_an_evalrun_the_tasks_are_packed_and_the_rest_is_named(tmp_path):
    (tmp_path / "run.yaml").write_text(RUN)
    packed = pack_tasks(tmp_path / "run.yaml")
    assert packed.tasks == ("of-a-run",)
    visible = packed.bundle.parts[VISIBLE_PART]
    assert (b'"path":"src/a.txt"' in visible, b"starter" in visible) == (True, False)
    assert "of EvalRun 'one' only the tasks are sent, not limits" in str(packed.warnings[0])


def test_more_tasks_than_a_manifest_takes_go_into_a_bundle(suite):
    for number in range(250):
        (suite / f"t{number:03}.yaml").write_text(TASK.replace("NAME", f"t{number}"))
    assert len(pack_tasks(suite).tasks) == 252


def test_a_task_that_validate_refuses_is_refused(suite):
    (suite / "c.yaml").write_text(TASK.replace("NAME", "c").replace("file_exists", "guessed"))
    assert "c.yaml:6: success_criteria[0].type: criterion type 'guessed'" in said(suite)


def test_two_tasks_of_one_name_are_refused(suite):
    (suite / "c.yaml").write_text(TASK.replace("NAME", "a"))
    assert "'a'" in said(suite)


def test_a_folder_without_tasks_is_refused(tmp_path):
    (tmp_path / "a.yaml").write_text(TASK.replace("NAME", "a") + "skip: true\n")
    (tmp_path / "template").mkdir()
    (tmp_path / "hidden").mkdir()
    with pytest.raises(UserError, match="no task that is not skipped"):
        pack_tasks(tmp_path)


def test_a_bundle_in_a_bundle_is_refused(tmp_path):
    digest = f"sha256:{'d' * 64}"
    (tmp_path / "run.yaml").write_text(
        RUN.replace("  tasks:", f'  tasksFrom: [{{bundle: {{digest: "{digest}"}}}}]\n  tasks:')
    )
    assert "give the folder itself" in said(tmp_path)


def link_to_a_file(suite, outside):
    (suite / "hidden" / "key").symlink_to(outside)


def link_to_a_folder(suite, outside):
    (suite / "template" / "more").symlink_to(outside.parent)


def link_on_the_way(suite, outside):
    shutil.move(suite / "hidden", suite / "really-hidden")
    (suite / "hidden").symlink_to("really-hidden")


def link_to_a_task_file(suite, outside):
    (suite / "c.yaml").symlink_to(suite / "a.yaml")


def link_to_a_folder_of_tasks(suite, outside):
    (suite / "more").symlink_to(outside.parent)


def a_named_pipe(suite, outside):
    os.mkfifo(suite / "template" / "pipe")


def a_control_character(suite, outside):
    (suite / "template" / "a\nb").write_text("x")


def bytes_that_are_no_text(suite, outside):
    (suite / "template" / os.fsdecode(b"\xff")).write_text("x")


def a_way_out(suite, outside):
    text = (suite / "a.yaml").read_text()
    (suite / "a.yaml").write_text(text.replace("directory: hidden", f"directory: {outside.parent}"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        pytest.param(link_to_a_file, "hidden/key is a symbolic link", id="link-to-a-file"),
        pytest.param(link_to_a_folder, "template/more is a symbolic link", id="link-to-a-folder"),
        pytest.param(link_on_the_way, "hidden is a symbolic link", id="link-on-the-way"),
        pytest.param(link_to_a_task_file, "c.yaml is a symbolic link", id="link-to-a-task-file"),
        pytest.param(
            link_to_a_folder_of_tasks, "more: PATH: is a symbolic link to a folder", id="tasks"
        ),
        pytest.param(a_named_pipe, "template/pipe is no regular file", id="named-pipe"),
        pytest.param(a_control_character, "is no plain name", id="control-character"),
        pytest.param(bytes_that_are_no_text, "is no plain name", id="no-text"),
        pytest.param(a_way_out, "push a folder that holds both", id="way-out"),
    ],
)
def test_what_is_not_a_file_of_the_folder_itself_is_refused_by_name(suite, tmp_path, change, words):
    outside = tmp_path / "private" / "key"
    outside.parent.mkdir()
    outside.write_text("do not send")
    change(suite, outside)
    assert words in said(suite)


def test_what_no_task_names_is_left_alone(suite):
    (suite / "notes").symlink_to("/etc/passwd")
    (suite / ".git").mkdir()
    (suite / ".git" / "link").symlink_to("..")
    assert pack_tasks(suite).tasks == ("a", "b")


def test_files_beyond_what_a_configmap_holds_are_refused_with_the_limit(suite):
    for name in "abcdefghij":
        (suite / "hidden" / name).write_text("x" * 65_000)
    assert "keep them at 600000 bytes" in said(suite)


# One file had limits of its own, 65,536 characters of text and 192 KiB of other bytes, while the
# documentation promised a task 600,000 bytes; so a lock file kept a folder from being pushed.
@pytest.mark.parametrize("side", ["template", "hidden"])
@pytest.mark.parametrize(
    "content",
    [pytest.param(b"x" * 599_000, id="text"), pytest.param(b"\xff" * 599_000, id="bytes")],
)
def test_one_file_may_have_all_bytes_that_a_task_has(suite, side, content):
    (suite / side / "large").write_bytes(content)
    assert pack_tasks(suite).tasks == ("a", "b")


def test_a_file_that_is_too_large_by_itself_is_named_with_its_size_and_not_shown(suite):
    (suite / "template" / "model.bin").write_bytes(b"\xff" * 3_000_000)
    told = said(suite)
    assert "sandbox.template_sources[0].path: 'model.bin' has 3000000 bytes" in told
    assert "lay large ones into the image" in told
    assert len(told) < 1000


# An agent sees all of its image: what is hidden may be laid anywhere but there.
@pytest.mark.parametrize(
    "sizes", [pytest.param([3_000_000], id="one"), pytest.param([400_000] * 2, id="together")]
)
def test_nobody_is_told_to_lay_hidden_files_into_the_image(suite, sizes):
    for number, size in enumerate(sizes):
        (suite / "hidden" / f"{number}.txt").write_bytes(b"x" * size)
    told = said(suite)
    assert "not in the image, where the agent would see them" in told
    assert "into the image" not in told


def test_more_than_the_operator_reads_is_refused_with_the_limit(suite):
    for name in "abcdefgh":
        (suite / "hidden" / name).write_text("x" * 60_000)
    for number in range(20):
        (suite / f"t{number}.yaml").write_text(TASK.replace("NAME", f"t{number}"))
    assert "push at most 8 MiB at a time" in said(suite)


def test_two_runs_that_have_a_task_of_one_name_are_refused(tmp_path):
    (tmp_path / "a.yaml").write_text(RUN)
    (tmp_path / "b.yaml").write_text(RUN.replace("{name: one}", "{name: two}"))
    assert "tasks: two tasks are called 'of-a-run' (rename one of them)" in said(tmp_path)
