import os
import socket

import pytest

from builders_runner import run_phase


def a_runtime(folder):
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/python").write_text("x")
    (folder / "bin/python").chmod(0o755)
    (folder / "bin/python3").symlink_to("python")
    return folder


def test_stage_lays_the_runtime_and_may_be_repeated(tmp_path):
    source, target = a_runtime(tmp_path / "from"), tmp_path / "to"

    for _ in range(2):
        ended = run_phase("stage", "--from", str(source), "--to", str(target))
        assert ended.code == 0, ended.err

    assert os.access(target / "bin/python", os.X_OK)
    assert os.readlink(target / "bin/python3") == "python"


@pytest.fixture
def listener():
    """A port that answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def stage_with_proof(tmp_path, reach, shun, *more):
    source, finding = a_runtime(tmp_path / "from"), tmp_path / "finding"
    ended = run_phase(
        "stage",
        *("--from", str(source), "--to", str(tmp_path / "to")),
        *("--must-reach", f"127.0.0.1:{reach}", "--must-not-reach", f"127.0.0.1:{shun}"),
        *("--finding", str(finding), *more),
    )
    return ended, finding.read_text()


def test_stage_says_that_the_network_is_closed(tmp_path, listener):
    ended, finding = stage_with_proof(tmp_path, listener, closed_port())
    assert (ended.code, finding) == (0, "NetworkClosed")


def test_stage_says_that_the_network_is_open_where_that_is_allowed(tmp_path, listener):
    ended, finding = stage_with_proof(tmp_path, listener, listener, "--only-report")
    assert (ended.code, finding) == (0, "NetworkOpen")


def test_runtime_that_is_missing_is_our_fault(tmp_path):
    ended = run_phase("stage", "--from", str(tmp_path / "missing"), "--to", str(tmp_path / "to"))

    assert ended.code == 1
    assert "missing" in ended.err
