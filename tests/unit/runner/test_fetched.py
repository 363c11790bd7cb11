"""A fetched repository between `stage` and the record: copied by `agent`, told of by `grade`."""

import json

import pytest

from builders_runner import a_file, agent_orders, file_contains, grade_orders
from proctor.runner.fetched import TREE, write_notes


@pytest.fixture
def fetched(tmp_path):
    folder = tmp_path / "fetched"
    (folder / TREE / "src").mkdir(parents=True)
    (folder / TREE / "src" / "app.py").write_text("of the commit")
    (folder / TREE / "README").write_text("of the commit")
    (folder / TREE / "out").symlink_to("/tmp")
    write_notes(folder, ["1 links lead out of the workspace: 'out'"])
    return folder


def execution(folders):
    return json.loads((folders.record / "execution.json").read_bytes())


def test_files_of_the_run_are_laid_over_the_repository(folders, fetched):
    orders = agent_orders("cat README src/app.py > seen", files=(a_file("README", "of the run, "),))
    assert folders.agent(orders, "--fetched", str(fetched)).code == 0
    ended = folders.grade(
        grade_orders(file_contains("seen", "of the run, of the commit")),
        "--fetched",
        str(fetched),
    )
    assert (ended.code, folders.verdict().score) == (0, 1), ended
    assert (fetched / TREE / "README").read_text() == "of the commit"
    assert execution(folders)["workspaceNotes"] == ["1 links lead out of the workspace: 'out'"]


def test_a_file_of_the_run_does_not_follow_a_link_of_the_repository(folders, fetched):
    orders = agent_orders(files=(a_file("out/planted", "x"),))
    folders.agent(orders, "--fetched", str(fetched))
    report = folders.agent_report()
    assert (report.status, "out/planted" in report.reason) == ("setup_failed", True)


def test_a_workspace_that_is_used_takes_no_repository(folders, fetched):
    folders.workspace.mkdir()
    (folders.workspace / "left").write_text("of a start before")
    ended = folders.agent(agent_orders(), "--fetched", str(fetched))
    assert (ended.code, "is used already" in ended.err) == (3, True)


@pytest.mark.parametrize("spoil", [lambda file: file.unlink(), lambda file: file.write_text("{")])
def test_notes_that_are_gone_are_missed_in_the_record_and_cost_no_score(folders, fetched, spoil):
    """Where agents run as the same user as `grade`, they may spoil them."""
    folders.agent(agent_orders("true"), "--fetched", str(fetched))
    spoil(fetched / "notes.json")
    folders.grade(grade_orders(file_contains("README", "of the commit")), "--fetched", str(fetched))
    assert folders.verdict().score == 1
    assert "cannot be read" in execution(folders)["workspaceNotes"][0]
