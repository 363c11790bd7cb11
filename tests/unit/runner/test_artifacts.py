"""Files of the workspace in the record: as data, bounded, and what is missing is named."""

import json
import os

import pytest

from builders_runner import file_exists, grade_orders
from proctor.api.orders import ArtifactsOrder, GradeOrders
from proctor.api.record_folder import read_record
from proctor.api.redaction import Redactor
from proctor.api.report import AgentReport
from proctor.runner import artifacts
from proctor.runner.artifacts import keep_artifacts
from proctor.runner.record import write_record

MIB = 1 << 20


@pytest.fixture
def kept(tmp_path):
    """Keep artifacts of a workspace; what lies in the record, and its summary."""
    workspace = tmp_path / "workspace"
    workspace.mkdir()

    def keep(*paths, max_bytes=MIB, secrets=None):
        redactor = Redactor(secrets or {})
        order = ArtifactsOrder(paths, max_bytes)
        record = tmp_path / "record"
        write_record(record, {}, lambda folder: keep_artifacts(order, workspace, redactor, folder))
        summary = json.loads((record / "artifacts.json").read_text())
        folder = record / "artifacts"
        files = {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
        manifest = json.loads((record / "manifest.json").read_text())
        named = {part["path"] for part in manifest["parts"]}
        assert named == {"artifacts.json", *(f"artifacts/{path}" for path in files)}
        return files, summary

    keep.workspace = workspace
    return keep


def test_a_secret_value_is_taken_out_of_what_is_kept(kept):
    (kept.workspace / "log.bin").write_bytes(b"\xff before hunter2-hunter2 after")
    files, summary = kept("**", secrets={"PASSWORD": "hunter2-hunter2"})
    assert files == {"log.bin": b"\xff before [redacted:PASSWORD] after"}
    assert summary["files"] == 1


def test_what_matches_is_kept_byte_for_byte_and_nothing_else(kept):
    (kept.workspace / "out").mkdir()
    (kept.workspace / "out/a.bin").write_bytes(b"\0\xff")
    (kept.workspace / "report.txt").write_text("r")
    (kept.workspace / "secret.txt").write_text("s")

    files, summary = kept("out/**", "report.txt", "./report.txt")

    assert files == {"out/a.bin": b"\0\xff", "report.txt": b"r"}
    assert (summary["files"], summary["sizeBytes"], summary["leftOut"]) == (2, 3, {})


def test_what_does_not_fit_is_named_and_smaller_files_still_are_kept(kept):
    (kept.workspace / "a-large").write_bytes(b"x" * (2 * MIB))
    (kept.workspace / "b-small").write_bytes(b"y")

    files, summary = kept("**")

    assert files == {"b-small": b"y"}
    assert summary["leftOut"] == {"a-large": f"{2 * MIB} bytes; 1 MiB are kept in all"}
    assert summary["leftOutFiles"] == 1


def test_more_files_than_the_limit_are_counted(kept, monkeypatch):
    monkeypatch.setattr(artifacts, "MOST_FILES", 3)
    for number in range(5):
        (kept.workspace / str(number)).touch()
    files, summary = kept("*")
    assert (len(files), summary["leftOutFiles"]) == (3, 2)


def test_links_out_devices_pipes_and_odd_names_are_left_out_and_named(kept, tmp_path):
    (tmp_path / "hidden").write_text("hidden")
    (kept.workspace / "out").symlink_to(tmp_path / "hidden")
    (kept.workspace / "up").symlink_to("../hidden")
    os.mkfifo(kept.workspace / "pipe")
    (kept.workspace / "new\nline").touch()
    (kept.workspace / "back\\slash").touch()
    (kept.workspace / os.fsdecode(b"\xff")).touch()
    (kept.workspace / "inside").symlink_to("real")
    (kept.workspace / "real").write_text("real")

    files, summary = kept("*")

    assert files == {"inside": b"real", "real": b"real"}
    assert summary["leftOutFiles"] == 6
    assert "hidden" not in json.dumps(summary["leftOut"]).replace("../hidden", "")


def test_a_path_that_leads_out_matches_nothing(kept, tmp_path):
    (tmp_path / "hidden").write_text("hidden")
    files, summary = kept("a/../../hidden", "missing")
    assert files == {}
    assert list(summary["leftOut"]) == ["missing"]


def test_a_tree_beyond_all_limits_is_named_and_not_walked(kept):
    folder = kept.workspace
    for _ in range(70):
        folder = folder / "d"
        folder.mkdir()
    (kept.workspace / "kept").touch()
    files, summary = kept("**/x", "kept")
    assert files == {"kept": b""}
    assert "depth" in summary["leftOut"]["**/x"]


def test_grade_puts_artifacts_into_its_record(folders):
    folders.workspace.mkdir()
    (folders.workspace / "a").write_text("made")
    folders.agent_evidence.mkdir()
    report = AgentReport("completed", started=True, turns=1, seconds=1.0)
    (folders.agent_evidence / "agent.json").write_text(json.dumps(report.to_json()))
    orders = grade_orders(file_exists("a"), artifacts=ArtifactsOrder(("*",), MIB))
    assert GradeOrders.from_json(json.loads(json.dumps(orders.to_json()))) == orders

    assert folders.grade(orders).code == 0

    record = read_record(folders.record, folders.verdict().digest)
    assert (record.folder / "artifacts/a").read_text() == "made"
    assert [part.path for part in record.manifest.parts][:2] == ["artifacts.json", "artifacts/a"]
